"""Short films: patches of each frame attend within the frame, then each patch over the frames; a class token for each film."""

import badak as torch
from badak import nn
from badak.nn import functional as F


class Attend(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.permute(0, 2, 1, 3).reshape(b, n, d))


class SpaceTime(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm_t, self.norm_s, self.norm_m = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.time, self.space = Attend(d, heads), Attend(d, heads)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * d, d))

    def forward(self, x):
        b, f, p, d = x.shape
        over_time = self.time(self.norm_t(x).permute(0, 2, 1, 3).reshape(b * p, f, d))
        x = x + over_time.reshape(b, p, f, d).permute(0, 2, 1, 3)
        x = x + self.space(self.norm_s(x).reshape(b * f, p, d)).reshape(b, f, p, d)
        return x + self.mlp(self.norm_m(x))


class Films(nn.Module):
    def __init__(self, d=32, heads=4, depth=2, frames=4, side=8, patch=4, classes=5):
        super().__init__()
        self.cut = nn.Conv2d(3, d, patch, stride=patch)
        n = (side // patch) ** 2
        self.place = nn.Parameter(0.5 * torch.randn(1, 1, n, d))
        self.when = nn.Parameter(0.5 * torch.randn(1, frames, 1, d))
        self.blocks = nn.ModuleList([SpaceTime(d, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(d)
        self.score = nn.Linear(d, 1)
        self.head = nn.Linear(d, classes)

    def forward(self, film):
        b, f = film.shape[:2]
        x = self.cut(film.flatten(0, 1)).flatten(2).transpose(1, 2)
        x = x.reshape(b, f, x.shape[1], -1) + self.place + self.when
        for block in self.blocks:
            x = block(x)
        x = self.norm(x).flatten(1, 2)
        weight = self.score(x).softmax(dim=1)
        return self.head((weight * x).sum(dim=1))


def build():
    return {"model": Films(), "batch": {"film": torch.randn(3, 4, 3, 8, 8)}}
