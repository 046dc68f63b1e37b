"""Which of six illnesses from symptoms in words: a small transformer of one's own, padding masks."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD = 0
SIGNS = [f"sign{i}" for i in range(36)]
VOCAB = {"<pad>": PAD, "<cls>": 1, **{w: i + 2 for i, w in enumerate(SIGNS)}}
SHARES = torch.tensor([0.35, 0.25, 0.15, 0.1, 0.1, 0.05])


class Records(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            illness = int(torch.multinomial(SHARES, 1, generator=g))
            long = int(torch.randint(3, 11, (), generator=g))
            typical = torch.randint(6, (long,), generator=g) + 6 * illness
            any_sign = torch.randint(36, (long,), generator=g)
            words = torch.where(torch.rand(long, generator=g) < 0.6, typical, any_sign)
            self.items.append((["<cls>", *(SIGNS[int(w)] for w in words)], illness))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, illness = self.items[i]
        return [VOCAB[w] for w in words], illness


def collate(batch):
    longest = max(len(ids) for ids, _ in batch)
    ids = torch.full((len(batch), longest), PAD)
    for row, (each, _) in enumerate(batch):
        ids[row, : len(each)] = torch.tensor(each)
    return ids, ids != PAD, torch.tensor([label for _, label in batch])


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(2, 3) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Attention(dim, heads), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        x = x + self.drop(self.attention(self.norm1(x), mask))
        return x + self.drop(self.ff(self.norm2(x)))


class Doctor(nn.Module):
    def __init__(self, dim=32, heads=4, depth=2, p=0.1):
        super().__init__()
        self.words, self.places = nn.Embedding(len(VOCAB), dim, padding_idx=PAD), nn.Parameter(0.02 * torch.randn(16, dim))
        self.layers = nn.ModuleList(Layer(dim, heads, p) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, 6)

    def forward(self, ids, mask):
        x = self.words(ids) + self.places[: ids.size(1)]
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x[:, 0]))


def macro_f1(guesses, labels):
    scores = []
    for c in range(6):
        hit = ((guesses == c) & (labels == c)).sum().item()
        scores.append(2 * hit / max(1, (guesses == c).sum().item() + (labels == c).sum().item()))
    return sum(scores) / 6


def test(model, loader):
    model.eval()
    guesses, labels = [], []
    with torch.no_grad():
        for ids, mask, y in loader:
            guesses.append(model(ids, mask).argmax(dim=1))
            labels.append(y)
    model.train()
    return macro_f1(torch.cat(guesses), torch.cat(labels))


def main():
    torch.manual_seed(121)
    train_set, test_set = Records(512, 1), Records(128, 2)
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(test_set, batch_size=64, collate_fn=collate)
    counts = torch.bincount(torch.tensor([y for _, y in train_set.items]), minlength=6).float()
    model = Doctor()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    criterion = nn.CrossEntropyLoss(weight=counts.sum() / (6 * counts))
    for epoch in range(3):
        for ids, mask, y in train_loader:
            loss = criterion(model(ids, mask), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            warm.step()
        print(epoch, loss.item(), test(model, test_loader))


main()
