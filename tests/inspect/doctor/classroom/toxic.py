"""Comments with several labels: attention pooling over embedded words, weights for the rare, a scaler, F1 at the end."""

import os
import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

SEED = int(os.environ.get("SEED", 13))
random.seed(SEED)
torch.manual_seed(SEED)
LABELS = ["insult", "threat", "spam"]
TRIGGERS = [["dumb", "fool", "idiot"], ["hurt", "break", "find"], ["buy", "free", "click"]]
NEUTRAL = "the of and to in is it you that he was for on are with as they be at one have this from".split()


def comment():
    words = random.choices(NEUTRAL, k=random.randint(6, 14))
    labels = [int(random.random() < p) for p in (0.3, 0.15, 0.2)]
    for has, triggers in zip(labels, TRIGGERS):
        if has:
            words.insert(random.randrange(len(words)), random.choice(triggers))
    return words, labels


comments = [comment() for _ in range(640)]
train_comments, val_comments = comments[:512], comments[512:]
counter = Counter(word for words, _ in train_comments for word in words)
itos = ["<pad>", "<unk>"] + [w for w, _ in counter.most_common()]
stoi = {w: i for i, w in enumerate(itos)}


def collate(batch):
    lengths = [len(words) for words, _ in batch]
    ids = torch.zeros(len(batch), max(lengths), dtype=torch.long)
    for row, (words, _) in enumerate(batch):
        ids[row, : len(words)] = torch.tensor([stoi.get(w, 1) for w in words])
    return ids, torch.tensor([labels for _, labels in batch], dtype=torch.float)


class AttentionPooling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, x, mask):
        scores = self.score(x).squeeze(-1)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=1)
        return torch.sum(weights.unsqueeze(-1) * x, dim=1)


class ToxicNet(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.gru = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.pool = AttentionPooling(dim)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(dim, len(LABELS))

    def forward(self, ids):
        mask = ids != 0
        lengths = mask.sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(ids), lengths, batch_first=True, enforce_sorted=False)
        out, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.fc(self.dropout(self.pool(out, mask)))


train_loader = DataLoader(train_comments, batch_size=32, shuffle=True, collate_fn=collate)
val_loader = DataLoader(val_comments, batch_size=64, collate_fn=collate)
y_train = torch.tensor([labels for _, labels in train_comments], dtype=torch.float)
pos_weight = (len(y_train) - y_train.sum(0)) / y_train.sum(0)
model = ToxicNet(len(itos))
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())


def f1(tp, fp, fn):
    return 2 * tp / (2 * tp + fp + fn + 1e-9)


for epoch in range(2):
    model.train()
    running = 0.0
    for ids, labels in train_loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", enabled=torch.cuda.is_available()):
            logits = model(ids)
            loss = loss_fn(logits, labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        running += loss.item()
    model.eval()
    tp = fp = fn = torch.zeros(3)
    with torch.inference_mode():
        for ids, labels in val_loader:
            guess = (torch.sigmoid(model(ids)) > 0.5).float()
            tp = tp + (guess * labels).sum(0)
            fp = fp + (guess * (1 - labels)).sum(0)
            fn = fn + ((1 - guess) * labels).sum(0)
    print(epoch, round(running / len(train_loader), 4), dict(zip(LABELS, f1(tp, fp, fn).tolist())))
