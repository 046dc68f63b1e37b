"""A test of learning rates first: it rises from 1e-6 to 1; then the weights are put back and the training begins."""

import copy

import torch
from torch import nn

torch.manual_seed(4)
W = torch.randn(10, 4)


def batch():
    x = torch.randn(32, 10)
    return x, (x @ W).argmax(1)


net = nn.Sequential(nn.Linear(10, 48), nn.Tanh(), nn.Linear(48, 4))
loss_fn = nn.CrossEntropyLoss()


def find(low=1e-6, high=1.0, steps=30):
    before = copy.deepcopy(net.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=low)
    factor = (high / low) ** (1 / steps)
    best, best_lr, last = None, low, None
    for _ in range(steps):
        x, y = batch()
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
        if last is not None and (best is None or last - loss.item() > best):
            best, best_lr = last - loss.item(), opt.param_groups[0]["lr"]
        last = loss.item()
        for g in opt.param_groups:
            g["lr"] *= factor
    net.load_state_dict(before)
    return best_lr


lr = max(find(), 1e-2)
opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
for _ in range(60):
    x, y = batch()
    opt.zero_grad()
    loss = loss_fn(net(x), y)
    loss.backward()
    opt.step()
print(lr, loss.item())
