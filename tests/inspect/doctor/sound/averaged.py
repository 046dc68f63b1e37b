"""An average of the weights that is tested beside the model: EMA by hand with a warm-up, and batch norm's buffers copied."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
pictures = torch.randn(500, 1, 8, 8)
kinds = (pictures[:, 0, :4].mean((1, 2)) > pictures[:, 0, 4:].mean((1, 2))).long()
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(512, 2))
ema = copy.deepcopy(net).requires_grad_(False).eval()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)


@torch.no_grad()
def update(step):
    decay = min(0.99, (1 + step) / (10 + step))
    for a, b in zip(ema.parameters(), net.parameters(), strict=True):
        a.mul_(decay).add_(b, alpha=1 - decay)
    for a, b in zip(ema.buffers(), net.buffers(), strict=True):
        a.copy_(b)


step = 0
for epoch in range(5):
    net.train()
    for rows in torch.randperm(400).split(40):
        loss = F.cross_entropy(net(pictures[rows]), kinds[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        update(step)
        step += 1
    with torch.no_grad():
        net.eval()
        scores = [(each(pictures[400:]).argmax(1) == kinds[400:]).float().mean().item() for each in (net, ema)]
    print(epoch, loss.item(), scores)
