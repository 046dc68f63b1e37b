# RealNVP on two moons. Exercise sheet 7.
import math

import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(1)


def sample_moons(n):
    t = torch.rand(n) * math.pi
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(upper, torch.sin(t), 0.5 - torch.sin(t))
    return torch.stack([x, y], 1) + 0.08 * torch.randn(n, 2)


data = sample_moons(1600)
mean, std = data[:1280].mean(0), data[:1280].std(0)
data = (data - mean) / std
train_data, test_data = data[:1280], data[1280:]


class Coupling(nn.Module):
    def __init__(self, mask, width=32):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(), nn.Linear(width, 2), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(), nn.Linear(width, 2))

    def forward(self, x):
        kept = x * self.mask
        s = self.scale(kept) * (1 - self.mask)
        t = self.shift(kept) * (1 - self.mask)
        z = kept + (1 - self.mask) * (x * torch.exp(s) + t)
        return z, s.sum(dim=1)

    def inverse(self, z):
        kept = z * self.mask
        s = self.scale(kept) * (1 - self.mask)
        t = self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * ((z - t) * torch.exp(-s))


class RealNVP(nn.Module):
    def __init__(self, n_layers=6):
        super().__init__()
        masks = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])]
        self.layers = nn.ModuleList([Coupling(masks[i % 2]) for i in range(n_layers)])

    def forward(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        return x, log_det

    def sample(self, n):
        z = torch.randn(n, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


flow = RealNVP()
prior = Normal(0.0, 1.0)
optimizer = torch.optim.Adam(flow.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)

losses = []
for epoch in range(6):
    flow.train()
    perm = torch.randperm(len(train_data))
    for idx in perm.split(64):
        x = train_data[idx]
        z, log_det = flow(x)
        log_pz = prior.log_prob(z).sum(dim=1)
        loss = -(log_pz + log_det).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()

    flow.eval()
    with torch.no_grad():
        z, log_det = flow(test_data)
        test_nll = -(prior.log_prob(z).sum(dim=1) + log_det).mean()
        drawn = flow.sample(200) * std + mean
    print(epoch, "train", sum(losses[-20:]) / 20, "test", test_nll.item(), "mean of samples", drawn.mean(0).tolist())
