"""A small vision transformer with CutMix and soft labels, an average of the weights, and a schedule with a warmup."""

import copy
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, SIDE, PATCH = 4, 16, 4


def pictures(n):
    y = torch.randint(0, CLASSES, (n,))
    grid = torch.arange(SIDE).float()
    waves = [
        torch.sin(grid[:, None] * 1.2 + 0 * grid),
        torch.sin(grid * 1.2 + 0 * grid[:, None]),
        torch.sin((grid[:, None] + grid) * 0.9),
        torch.sin((grid[:, None] - grid) * 0.9),
    ]
    return torch.stack([waves[k] for k in y]).unsqueeze(1) + 0.5 * torch.randn(n, 1, SIDE, SIDE), y


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = self.drop(attn.softmax(dim=-1))
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, dim=32, depth=2, heads=4):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, PATCH, stride=PATCH)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(0.02 * torch.randn(1, (SIDE // PATCH) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, CLASSES)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def cutmix(x, y):
    soft = F.one_hot(y, CLASSES).float()
    order = torch.randperm(len(x))
    size = random.randint(2, SIDE // 2)
    r, c = random.randrange(SIDE - size), random.randrange(SIDE - size)
    mixed = x.clone()
    mixed[:, :, r : r + size, c : c + size] = x[order, :, r : r + size, c : c + size]
    lam = 1 - size * size / SIDE**2
    return mixed, lam * soft + (1 - lam) * soft[order]


def lr_at(step, total, peak, warmup=8):
    if step < warmup:
        return peak * (step + 1) / warmup
    return 0.5 * peak * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


def update_average(average, model, decay=0.95):
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.lerp_(p, 1 - decay)


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        correct = sum((model(a).argmax(1) == b).sum().item() for a, b in zip(x.split(50), y.split(50)))
    model.train()
    return correct / len(y)


random.seed(0)
torch.manual_seed(0)
train_x, train_y = pictures(512)
test_x, test_y = pictures(100)
vit = ViT()
average = copy.deepcopy(vit)
optimizer = torch.optim.AdamW(vit.parameters(), lr=2e-3, weight_decay=0.05)
total, step = 3 * 16, 0
for epoch in range(3):
    for rows in torch.randperm(512).split(32):
        for group in optimizer.param_groups:
            group["lr"] = lr_at(step, total, 2e-3)
        x, y = cutmix(train_x[rows], train_y[rows])
        loss = F.cross_entropy(vit(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(vit.parameters(), 1.0)
        optimizer.step()
        update_average(average, vit)
        step += 1
    print(epoch, loss.item(), test(vit, test_x, test_y), test(average, test_x, test_y))
