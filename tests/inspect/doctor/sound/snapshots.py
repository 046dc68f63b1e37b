"""Snapshot ensembles: the rate falls to nearly 0 and starts anew, each end of a cycle is kept, the kept ones vote."""

import copy

import torch
from torch import nn

torch.manual_seed(9)
angle = torch.rand(600) * 6.28
kind = torch.randint(3, (600,))
data = torch.stack([(1 + kind) * torch.cos(angle), (1 + kind) * torch.sin(angle)], dim=1) + 0.25 * torch.randn(600, 2)
train_x, train_y, test_x, test_y = data[:450], kind[:450], data[450:], kind[450:]
model = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=8)
kept = []
for step in range(48):
    rows = torch.randint(450, (64,))
    loss = nn.functional.cross_entropy(model(train_x[rows]), train_y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if (step + 1) % 8 == 0:
        kept.append(copy.deepcopy(model).eval())
        with torch.no_grad():
            votes = sum(snapshot(test_x).softmax(dim=1) for snapshot in kept[-3:])
        print(step + 1, loss.item(), (votes.argmax(1) == test_y).float().mean().item())
