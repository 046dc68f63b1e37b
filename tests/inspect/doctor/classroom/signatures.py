"""Whose signature is it: curves of twelve writers, batches of four writers with four curves each, triplets of the hardest."""

import math

import torch
from torch import nn

torch.manual_seed(71)
WRITERS, LONG = 12, 40
hand = torch.randn(WRITERS, 2, 5)


def sign(writer):
    t = torch.linspace(0, 1, LONG)
    waves = torch.stack([torch.sin(2 * math.pi * (k + 1) * t + 0.2 * torch.randn(())) for k in range(5)])
    return (hand[writer] + 0.25 * torch.randn(2, 5)) @ waves + 0.05 * torch.randn(2, LONG)


def collect(per_writer):
    owners = torch.arange(WRITERS).repeat_interleave(per_writer)
    return torch.stack([sign(w) for w in owners.tolist()]), owners


gallery, gallery_owner = collect(16)
queries, query_owner = collect(6)
mean, std = gallery.mean(dim=(0, 2), keepdim=True), gallery.std(dim=(0, 2), keepdim=True)
gallery, queries = (gallery - mean) / std, (queries - mean) / std


class Embedder(nn.Module):
    def __init__(self, out=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(2, 16, 5, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 5, padding=2),
            nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(32, out))

    def forward(self, x):
        h = self.conv(x).amax(dim=2)
        return nn.functional.normalize(self.head(h), dim=1)


def sample_batch(p=4, k=4):
    writers = torch.randperm(WRITERS)[:p]
    rows = [torch.nonzero(gallery_owner == w).squeeze(1) for w in writers]
    chosen = torch.cat([r[torch.randperm(len(r))[:k]] for r in rows])
    return gallery[chosen], gallery_owner[chosen]


def batch_hard(z, owners, margin=0.3):
    distance = torch.cdist(z, z)
    same = owners[:, None] == owners[None, :]
    positive = (distance * same).max(dim=1).values
    negative = (distance + 10.0 * same).min(dim=1).values
    return torch.relu(positive - negative + margin).mean()


@torch.no_grad()
def rank_one(net):
    net.eval()
    known, asked = net(gallery), net(queries)
    nearest = torch.cdist(asked, known).argmin(dim=1)
    net.train()
    return (gallery_owner[nearest] == query_owner).float().mean().item()


net = Embedder()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
decay = torch.optim.lr_scheduler.StepLR(opt, step_size=20, gamma=0.5)
for step in range(60):
    x, owners = sample_batch()
    z = net(x)
    loss = batch_hard(z, owners)
    opt.zero_grad()
    loss.backward()
    opt.step()
    decay.step()
    if step % 20 == 19:
        print(f"{step + 1}: loss {loss.item():.3f}, rank 1 {rank_one(net):.2%}")
