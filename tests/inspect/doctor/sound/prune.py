"""Magnitude pruning: a net is trained, small weights are set to zero and held there, the rest goes on."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
X = torch.randn(900, 16)
Y = (X[:, :3].prod(1) > 0).long() + 2 * (X[:, 3] > 0.3).long()
net = nn.Sequential(nn.Linear(16, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 4))
first_weights = copy.deepcopy(net.state_dict())
masks = {name: torch.ones_like(p) for name, p in net.named_parameters() if p.dim() > 1}


def train(epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for rows in torch.randperm(700).split(50):
            loss = F.cross_entropy(net(X[rows]), Y[rows])
            opt.zero_grad()
            loss.backward()
            for name, p in net.named_parameters():
                if name in masks:
                    p.grad.mul_(masks[name])
            opt.step()
    with torch.no_grad():
        return (net(X[700:]).argmax(1) == Y[700:]).float().mean().item()


print("dense", train(2))
for round in range(3):
    for name, p in net.named_parameters():
        if name in masks:
            alive = p.detach().abs()[masks[name] > 0]
            limit = alive.kthvalue(int(0.4 * len(alive))).values
            masks[name] = masks[name] * (p.detach().abs() > limit)
    net.load_state_dict(first_weights)
    with torch.no_grad():
        for name, p in net.named_parameters():
            if name in masks:
                p.mul_(masks[name])
    kept = sum(m.sum().item() for m in masks.values()) / sum(m.numel() for m in masks.values())
    print("kept", round, kept, train(2))
