"""영화 리뷰 감성 분석: 트랜스포머 인코더 + CLS"""

import random
from collections import Counter
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

random.seed(11)
torch.manual_seed(11)
GOOD = "재미있다 최고 감동 훌륭 추천 완벽 즐겁다".split()
BAD = "지루하다 최악 실망 형편없다 졸작 아깝다 엉망".split()
FILL = "영화 배우 연기 음악 장면 이야기 그냥 정말 조금 너무 오늘 극장".split()


def review():
    label = random.randint(0, 1)
    words = random.choices(FILL, k=random.randint(3, 9)) + random.choices(GOOD if label else BAD, k=2)
    random.shuffle(words)
    return " ".join(words), label


@dataclass
class Config:
    d_model: int = 48
    heads: int = 4
    layers: int = 2
    max_len: int = 16
    batch: int = 32
    lr: float = 1e-3
    epochs: int = 3


cfg = Config()
samples = [review() for _ in range(900)]
train_samples, test_samples = samples[:700], samples[700:]
counter = Counter(w for text, _ in train_samples for w in text.split())
vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
for w, _ in counter.most_common():
    vocab[w] = len(vocab)


def encode(text):
    ids = [vocab["[CLS]"]] + [vocab.get(w, vocab["[UNK]"]) for w in text.split()]
    ids = ids[: cfg.max_len]
    return ids + [vocab["[PAD]"]] * (cfg.max_len - len(ids))


class ReviewDataset(Dataset):
    def __init__(self, samples):
        self.x = torch.tensor([encode(t) for t, _ in samples])
        self.y = torch.tensor([l for _, l in samples])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "label": self.y[i]}


class Classifier(nn.Module):
    def __init__(self, cfg, vocab_size, n_class=2):
        super().__init__()
        self.token = nn.Embedding(vocab_size, cfg.d_model, padding_idx=0)
        self.position = nn.Embedding(cfg.max_len, cfg.d_model)
        layer = nn.TransformerEncoderLayer(cfg.d_model, cfg.heads, cfg.d_model * 4, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, cfg.layers)
        self.head = nn.Linear(cfg.d_model, n_class)

    def forward(self, input_ids):
        mask = input_ids == 0
        pos = torch.arange(input_ids.size(1))
        h = self.token(input_ids) + self.position(pos)
        h = self.encoder(h, src_key_padding_mask=mask)
        return self.head(h[:, 0])


class Trainer:
    def __init__(self, model, cfg, train_set, test_set):
        self.model, self.cfg = model, cfg
        self.train_loader = DataLoader(train_set, cfg.batch, shuffle=True)
        self.test_loader = DataLoader(test_set, cfg.batch)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=cfg.epochs * len(self.train_loader))
        self.criterion = nn.CrossEntropyLoss()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            losses = []
            for batch in self.train_loader:
                logits = self.model(batch["input_ids"])
                loss = self.criterion(logits, batch["label"])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                losses.append(loss.item())
            print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f} acc {self.evaluate():.3f}")

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = total = 0
        for batch in self.test_loader:
            pred = self.model(batch["input_ids"]).argmax(dim=-1)
            right += (pred == batch["label"]).sum().item()
            total += batch["label"].size(0)
        return right / total


if __name__ == "__main__":
    model = Classifier(cfg, len(vocab))
    Trainer(model, cfg, ReviewDataset(train_samples), ReviewDataset(test_samples)).fit()
    model.eval()
    with torch.no_grad():
        for text in ["정말 재미있다 최고 영화", "너무 지루하다 졸작 이야기"]:
            prob = model(torch.tensor([encode(text)])).softmax(-1)[0, 1].item()
            print(text, f"-> 긍정 {prob:.2f}")
