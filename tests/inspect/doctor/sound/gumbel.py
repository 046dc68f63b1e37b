"""A discrete autoencoder: Gumbel-softmax codes whose temperature falls, a straight-through choice."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(15)
prototypes = (torch.rand(10, 30) > 0.6).float()
which = torch.randint(10, (1000,))
noise = torch.rand(1000, 30) < 0.05
bits = (prototypes[which] != noise).float()
train, held = bits[:800], bits[800:]


class Discrete(nn.Module):
    def __init__(self, groups=3, codes=4):
        super().__init__()
        self.groups, self.codes = groups, codes
        self.enc = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, groups * codes))
        self.dec = nn.Sequential(nn.Linear(groups * codes, 64), nn.ReLU(), nn.Linear(64, 30))

    def forward(self, x, temperature):
        logits = self.enc(x).view(-1, self.groups, self.codes)
        if self.training:
            code = F.gumbel_softmax(logits, tau=temperature, hard=True, dim=-1)
        else:
            code = F.one_hot(logits.argmax(dim=-1), self.codes).float()
        return self.dec(code.flatten(1)), logits


model = Discrete()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
step = 0
for epoch in range(5):
    model.train()
    for (x,) in DataLoader(TensorDataset(train), 40, shuffle=True):
        temperature = max(0.5, math.exp(-0.01 * step))
        out, logits = model(x, temperature)
        mean = logits.softmax(dim=-1).mean(dim=0)
        entropy = -(mean * mean.clamp(min=1e-9).log()).sum(dim=-1).mean()
        loss = F.binary_cross_entropy_with_logits(out, x) - 0.05 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        out, _ = model(held, 0.5)
    print(epoch, loss.item(), ((out > 0).float() == held).float().mean().item())
