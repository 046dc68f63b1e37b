"""Columns of kinds and of numbers, two classes that are rare and common, the area under the curve by hand."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(37)
N = 600
kinds = torch.stack([torch.randint(0, 7, (N,)), torch.randint(0, 12, (N,))], 1)
numbers = torch.stack([torch.rand(N) * 60 + 18, torch.randn(N).exp() * 30000], 1)
chance = torch.sigmoid((kinds[:, 0] == 3).float() * 2 + (numbers[:, 0] - 50) / 12 - 1.5)
target = torch.bernoulli(chance)
cut = 480
mean, std = numbers[:cut].mean(0), numbers[:cut].std(0)
numbers = (numbers - mean) / std
train = DataLoader(TensorDataset(kinds[:cut], numbers[:cut], target[:cut]), batch_size=48, shuffle=True)


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(7, 4), nn.Embedding(12, 6)])
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, kinds, numbers):
        parts = [table(kinds[:, i]) for i, table in enumerate(self.tables)]
        return self.layers(torch.cat([*parts, numbers], dim=1)).squeeze(1)


def auc(score, label):
    order = score.argsort()
    ranks = torch.empty_like(score)
    ranks[order] = torch.arange(1, len(score) + 1, dtype=score.dtype)
    pos = label.sum()
    return ((ranks[label == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(label) - pos))).item()


model = Tabular()
weight = (target[:cut] == 0).sum() / (target[:cut] == 1).sum()
criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-2)
for epoch in range(4):
    model.train()
    for k, x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(k, x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), auc(model(kinds[cut:], numbers[cut:]), target[cut:]))
