"""Which advertisement is clicked: fields of ids and two numbers, factorization and a deep part, log loss by hand, AUC."""

import torch
import torch.nn as nn

torch.manual_seed(141)
FIELDS, N = [12, 30, 8, 50], 2400
ids = torch.stack([torch.randint(size, (N,)) for size in FIELDS], dim=1)
numbers = torch.randn(N, 2) * torch.tensor([20.0, 3.0]) + torch.tensor([40.0, 5.0])
hidden = [torch.randn(size) for size in FIELDS]
score = sum(h[ids[:, i]] for i, h in enumerate(hidden)) + hidden[0][ids[:, 0]] * hidden[2][ids[:, 2]] + (numbers[:, 0] - 40) / 20
clicked = (torch.rand(N) < torch.sigmoid(score - 1)).float()
cut = 1920
mean, std = numbers[:cut].mean(0), numbers[:cut].std(0)
numbers = (numbers - mean) / std


class DeepFM(nn.Module):
    def __init__(self, k=8):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, k) for size in FIELDS])
        self.first = nn.ModuleList([nn.Embedding(size, 1) for size in FIELDS])
        self.dense = nn.Linear(2, 1)
        self.deep = nn.Sequential(nn.Linear(4 * k + 2, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, ids, numbers):
        v = torch.stack([table(ids[:, i]) for i, table in enumerate(self.tables)], dim=1)
        linear = sum(table(ids[:, i]) for i, table in enumerate(self.first)) + self.dense(numbers)
        pairs = 0.5 * (v.sum(dim=1).pow(2) - v.pow(2).sum(dim=1)).sum(dim=1, keepdim=True)
        deep = self.deep(torch.cat([v.flatten(1), numbers], dim=1))
        return torch.sigmoid(linear + 0.1 * pairs + deep).squeeze(1)


def log_loss(p, y):
    p = p.clamp(1e-6, 1 - 1e-6)
    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()


def auc(p, y):
    order = p.argsort()
    ranks = torch.empty(len(p)).index_copy_(0, order, torch.arange(1.0, len(p) + 1))
    positive = y.sum()
    return ((ranks[y == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(y) - positive))).item()


model = DeepFM()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
accumulate = 2
for epoch in range(3):
    model.train()
    parts = torch.randperm(cut).split(48)
    for number, rows in enumerate(parts):
        loss = log_loss(model(ids[rows], numbers[rows]), clicked[rows]) / accumulate
        loss.backward()
        if (number + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        p = model(ids[cut:], numbers[cut:])
    print(epoch, log_loss(p, clicked[cut:]).item(), auc(p, clicked[cut:]))
