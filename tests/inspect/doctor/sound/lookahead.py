"""Lookahead: fast weights run ahead for five steps, slow ones come half of the way, and the fast ones start there."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(6)
w = torch.randn(10, 4)
x = torch.randn(900, 10)
y = (torch.tanh(x @ w) + 0.4 * torch.randn(900, 4)).argmax(dim=1)


class Lookahead:
    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            with torch.no_grad():
                for group, slow in zip(self.optimizer.param_groups, self.slow):
                    for p, s in zip(group["params"], slow):
                        s.add_(p - s, alpha=self.alpha)
                        p.copy_(s)


net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
opt = Lookahead(torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9))
for epoch in range(5):
    for rows in torch.randperm(700).split(50):
        loss = F.cross_entropy(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
