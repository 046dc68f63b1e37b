"""A conditional VAE in plain functions: blobs of ten kinds, reconstruction by BCE, a KL term that is warmed up."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--iters", type=int, default=80)
parser.add_argument("--lr", type=float, default=2e-3)
args = parser.parse_args()
torch.manual_seed(3)


def blobs(n):
    kind = torch.randint(0, 10, (n,))
    cx = (kind % 5).float() * 2 + 2 + 0.3 * torch.randn(n)
    cy = (kind // 5).float() * 5 + 3 + 0.3 * torch.randn(n)
    g = torch.arange(12.0)
    img = torch.exp(-((g[None, None, :] - cx[:, None, None]) ** 2 + (g[None, :, None] - cy[:, None, None]) ** 2) / 3)
    return img.unsqueeze(1), kind


class CVAE(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.label = nn.Embedding(10, 16)
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten())
        self.to_mu = nn.Linear(16 * 9 + 16, latent)
        self.to_logvar = nn.Linear(16 * 9 + 16, latent)
        self.dec = nn.Sequential(nn.Linear(latent + 16, 64), nn.ReLU(), nn.Linear(64, 144))

    def encode(self, x, c):
        h = torch.cat([self.enc(x), self.label(c)], 1)
        return self.to_mu(h), self.to_logvar(h)

    def decode(self, z, c):
        return self.dec(torch.cat([z, self.label(c)], 1)).view(-1, 1, 12, 12)

    def forward(self, x, c):
        mu, logvar = self.encode(x, c)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return self.decode(z, c), mu, logvar


def elbo(recon, x, mu, logvar, beta):
    rec = F.binary_cross_entropy_with_logits(recon, x, reduction="sum") / len(x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return rec + beta * kl, rec, kl


data, kinds = blobs(1000)
held, held_kinds = blobs(200)
model = CVAE(args.latent)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
for it in range(args.iters):
    pick = torch.randint(0, len(data), (64,))
    x, c = data[pick], kinds[pick]
    recon, mu, logvar = model(x, c)
    beta = min(1.0, (it + 1) / 40)
    loss, rec, kl = elbo(recon, x, mu, logvar, beta)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        with torch.no_grad():
            r, m, v = model(held, held_kinds)
            print(it, loss.item(), rec.item(), kl.item(), elbo(r, held, m, v, 1.0)[0].item())

with torch.no_grad():
    sample = model.decode(torch.randn(10, args.latent), torch.arange(10)).sigmoid()
print(sample.shape)
