"""Contrastive learning: two views of each row, cosine similarities by a temperature, cross entropy against the diagonal."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(37)
body = nn.Sequential(nn.Linear(20, 48), nn.LayerNorm(48), nn.ReLU(), nn.Linear(48, 48))
head = nn.Sequential(nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 12))
parameters = [*body.parameters(), *head.parameters()]
optim = torch.optim.AdamW(parameters, lr=3e-4)


def views(x):
    return x + 0.1 * torch.randn_like(x), x * (torch.rand_like(x) > 0.1)


for _ in range(40):
    a, b = views(torch.randn(32, 20))
    za, zb = F.normalize(head(body(a)), dim=1), F.normalize(head(body(b)), dim=1)
    similar = za @ zb.T / 0.2
    truth = torch.arange(32)
    loss = (F.cross_entropy(similar, truth) + F.cross_entropy(similar.T, truth)) / 2
    optim.zero_grad()
    loss.backward()
    optim.step()
