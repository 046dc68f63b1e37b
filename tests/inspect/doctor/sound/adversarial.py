"""Training on pictures that were moved uphill first (FGSM, then three steps of PGD), the attack made in eval mode."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
x = torch.rand(500, 1, 8, 8)
y = (x[:, 0, :, :4].mean((1, 2)) > x[:, 0, :, 4:].mean((1, 2))).long()
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(288, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)


def attack(x, y, size=0.05, steps=3):
    net.eval()
    moved = (x + size * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
    for _ in range(steps):
        moved.requires_grad_()
        (slope,) = torch.autograd.grad(F.cross_entropy(net(moved), y), moved)
        moved = (x + (moved.detach() + 0.02 * slope.sign() - x).clamp(-size, size)).clamp(0, 1)
    net.train()
    return moved.detach()


for epoch in range(4):
    net.train()
    for rows in torch.randperm(400).split(40):
        harder = attack(x[rows], y[rows])
        loss = 0.5 * F.cross_entropy(net(x[rows]), y[rows]) + 0.5 * F.cross_entropy(net(harder), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[400:]).argmax(1) == y[400:]).float().mean().item())
