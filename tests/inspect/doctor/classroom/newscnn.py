"""Kim's convolutional network for the topics of news headlines."""

import copy
import random
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CONFIG = {
    "seed": 11,
    "max_len": 14,
    "min_freq": 2,
    "embed_dim": 32,
    "num_filters": 24,
    "kernel_sizes": (2, 3, 4),
    "dropout": 0.4,
    "batch_size": 32,
    "lr": 2e-3,
    "epochs": 6,
    "patience": 2,
}
TOPICS = ["sports", "business", "science", "politics"]
WORDS = {
    "sports": "team coach goal season league striker match win final injury transfer stadium".split(),
    "business": "shares profit market bank deal growth merger stocks sales prices investors loan".split(),
    "science": "study cells planet virus climate energy telescope gene species lab space robot".split(),
    "politics": "vote minister senate law party election president reform treaty court debate budget".split(),
}
COMMON = "the a new after in of says for on with over first year two report may".split()


def make_headline():
    topic = random.randrange(len(TOPICS))
    words = []
    for _ in range(random.randint(5, 16)):
        r = random.random()
        if r < 0.25:
            words.append(random.choice(WORDS[TOPICS[topic]]))
        elif r < 0.38:
            words.append(random.choice(WORDS[random.choice(TOPICS)]))
        else:
            words.append(random.choice(COMMON))
    return " ".join(words), topic


class Vocab:
    def __init__(self, texts, min_freq):
        counter = Counter(word for text in texts for word in text.split())
        self.itos = ["<pad>", "<unk>"] + sorted(w for w, c in counter.items() if c >= min_freq)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text, max_len):
        ids = [self.stoi.get(w, 1) for w in text.split()][:max_len]
        return ids + [0] * (max_len - len(ids))


class NewsDataset(Dataset):
    def __init__(self, rows, vocab, max_len):
        self.rows = rows
        self.vocab = vocab
        self.max_len = max_len

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return torch.tensor(self.vocab.encode(text, self.max_len)), torch.tensor(label)


class TextCNN(nn.Module):
    def __init__(self, vocab_size, cfg, num_classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, cfg["embed_dim"], padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(cfg["embed_dim"], cfg["num_filters"], k) for k in cfg["kernel_sizes"]])
        self.dropout = nn.Dropout(cfg["dropout"])
        self.fc = nn.Linear(cfg["num_filters"] * len(cfg["kernel_sizes"]), num_classes)

    def forward(self, x):
        emb = self.embedding(x).permute(0, 2, 1)
        pooled = []
        for conv in self.convs:
            c = F.relu(conv(emb))
            pooled.append(F.max_pool1d(c, c.size(2)).squeeze(2))
        return self.fc(self.dropout(torch.cat(pooled, dim=1)))


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    losses, preds, golds = [], [], []
    with torch.set_grad_enabled(training):
        for ids, labels in loader:
            logits = model(ids)
            loss = criterion(logits, labels)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
            preds.extend(logits.argmax(dim=1).tolist())
            golds.extend(labels.tolist())
    accuracy = np.mean(np.array(preds) == np.array(golds))
    return np.mean(losses), accuracy


def main(cfg):
    random.seed(cfg["seed"])
    np.random.seed(cfg["seed"])
    torch.manual_seed(cfg["seed"])
    rows = [make_headline() for _ in range(1500)]
    train_rows, val_rows, test_rows = rows[:1000], rows[1000:1250], rows[1250:]
    vocab = Vocab([text for text, _ in train_rows], cfg["min_freq"])
    train_dl = DataLoader(NewsDataset(train_rows, vocab, cfg["max_len"]), cfg["batch_size"], shuffle=True)
    val_dl = DataLoader(NewsDataset(val_rows, vocab, cfg["max_len"]), cfg["batch_size"])
    test_dl = DataLoader(NewsDataset(test_rows, vocab, cfg["max_len"]), cfg["batch_size"])

    model = TextCNN(len(vocab), cfg, len(TOPICS))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"], weight_decay=1e-5)
    best_loss, best_state, waited = float("inf"), None, 0
    for epoch in range(cfg["epochs"]):
        train_loss, train_acc = run_epoch(model, train_dl, criterion, optimizer)
        val_loss, val_acc = run_epoch(model, val_dl, criterion)
        print(f"{epoch + 1:2d} | train {train_loss:.3f} {train_acc:.3f} | val {val_loss:.3f} {val_acc:.3f}")
        if val_loss < best_loss:
            best_loss, waited = val_loss, 0
            best_state = copy.deepcopy(model.state_dict())
        else:
            waited += 1
            if waited >= cfg["patience"]:
                print("early stopping")
                break
    model.load_state_dict(best_state)
    test_loss, test_acc = run_epoch(model, test_dl, criterion)
    print(f"test loss {test_loss:.3f}, accuracy {test_acc:.3f}")


if __name__ == "__main__":
    main(CONFIG)
