"""Digits drawn pixel by pixel: 16 grays as words, a class in front of them, GPT blocks with one map for q, k, v and rows and columns as places."""

from dataclasses import dataclass

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


@dataclass
class Config:
    grays: int = 16
    classes: int = 10
    side: int = 5
    width: int = 32
    heads: int = 4
    layers: int = 2
    dropout: float = 0.1


class CausalAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
        att = att.masked_fill(~mask, float("-inf"))
        att = self.drop(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.attn = CausalAttention(cfg)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width), nn.Dropout(cfg.dropout)
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class PixelGPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.gray = nn.Embedding(cfg.grays, cfg.width)
        self.label = nn.Embedding(cfg.classes, cfg.width)
        self.row = nn.Embedding(cfg.side, cfg.width)
        self.column = nn.Embedding(cfg.side, cfg.width)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.layers)])
        self.ln_f = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, cfg.grays, bias=False)

    def forward(self, pixels, label):
        """pixels (B, side * side), label (B,) -> what each pixel is, from those before and the class"""
        B, T = pixels.shape
        place = torch.arange(T)
        start = self.label(label).unsqueeze(1)
        x = torch.cat([start, self.gray(pixels[:, :-1])], dim=1)
        x = x + self.row(place // self.cfg.side) + self.column(place % self.cfg.side)
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))


def build():
    cfg = Config()
    pixels = torch.randint(0, cfg.grays, (4, cfg.side**2))
    label = torch.tensor([3, 8, 1, 0])
    model = PixelGPT(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {
        "model": model,
        "batch": (pixels, label),
        "loss": lambda z: F.cross_entropy(z.transpose(1, 2), pixels),
        "optimizer": optimizer,
    }
