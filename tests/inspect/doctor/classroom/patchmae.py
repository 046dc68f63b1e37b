"""A masked autoencoder of patches; its encoder is frozen then, and a linear probe tells the digits-like shapes."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
IMG, PATCH, D = 16, 4, 32
N_PATCHES = (IMG // PATCH) ** 2
KEEP = 6


def shapes(n):
    y = torch.randint(0, 4, (n,))
    grid = torch.arange(IMG).float()
    phase = torch.rand(n, 1, 1) * 6.28
    a, b = grid.view(1, -1, 1), grid.view(1, 1, -1)
    waves = torch.stack(
        [
            (0.8 * a + phase).sin().expand(n, IMG, IMG),
            (0.8 * b + phase).sin().expand(n, IMG, IMG),
            (0.6 * (a + b) + phase).sin(),
            (0.6 * (a - b) + phase).sin(),
        ],
        1,
    )
    x = waves[torch.arange(n), y] + 0.1 * torch.randn(n, IMG, IMG)
    return x.unsqueeze(1), y


def patchify(imgs):
    n, c, h, w = imgs.shape
    x = imgs.reshape(n, c, h // PATCH, PATCH, w // PATCH, PATCH)
    return torch.einsum("nchpwq->nhwpqc", x).reshape(n, N_PATCHES, PATCH * PATCH * c)


class Block(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class MAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Linear(PATCH * PATCH, D)
        self.pos = nn.Parameter(torch.randn(1, N_PATCHES, D) * 0.02)
        self.encoder = nn.Sequential(Block(D), Block(D))
        self.norm = nn.LayerNorm(D)
        self.bridge = nn.Linear(D, 24)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, 24))
        self.dec_pos = nn.Parameter(torch.randn(1, N_PATCHES, 24) * 0.02)
        self.decoder = Block(24)
        self.pixels = nn.Linear(24, PATCH * PATCH)

    def encode(self, imgs):
        return self.norm(self.encoder(self.patch_embed(patchify(imgs)) + self.pos))

    def forward(self, imgs):
        target = patchify(imgs)
        x = self.patch_embed(target) + self.pos
        noise = torch.rand(x.shape[:2])
        shuffle = noise.argsort(dim=1)
        restore = shuffle.argsort(dim=1)
        kept = shuffle[:, :KEEP]
        x = torch.gather(x, 1, kept.unsqueeze(-1).expand(-1, -1, D))
        x = self.bridge(self.norm(self.encoder(x)))
        masks = self.mask_token.expand(x.size(0), N_PATCHES - KEEP, -1)
        x = torch.cat([x, masks], dim=1)
        x = torch.gather(x, 1, restore.unsqueeze(-1).expand(-1, -1, x.size(-1)))
        guess = self.pixels(self.decoder(x + self.dec_pos))
        hidden = torch.ones(x.shape[:2])
        hidden.scatter_(1, kept, 0.0)
        error = (guess - target).pow(2).mean(dim=-1)
        return (error * hidden).sum() / hidden.sum()


X, Y = shapes(640)
Xte, Yte = shapes(160)
pictures = DataLoader(TensorDataset(X, Y), batch_size=64, shuffle=True)
mae = MAE()
optimizer = torch.optim.AdamW(mae.parameters(), lr=2e-3, weight_decay=0.05, betas=(0.9, 0.95))
for epoch in range(3):
    for img, _ in pictures:
        loss = mae(img)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print("pretrain", epoch, loss.item())

for p in mae.parameters():
    p.requires_grad_(False)
mae.eval()
probe = nn.Sequential(nn.BatchNorm1d(D), nn.Linear(D, 4))
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    probe.train()
    for img, label in pictures:
        with torch.no_grad():
            features = mae.encode(img).mean(dim=1)
        loss = F.cross_entropy(probe(features), label)
        probe_opt.zero_grad()
        loss.backward()
        probe_opt.step()
    probe.eval()
    with torch.no_grad():
        right = (probe(mae.encode(Xte).mean(dim=1)).argmax(dim=1) == Yte).float().mean()
    print("probe", epoch, loss.item(), right.item())
