"""Bytes in patches (after MegaByte): a global model reads patches that were moved by one."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, p=0.0):
        super().__init__()
        self.h, self.p = heads, p
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=-1)
        q, k, v = (z.view(n, t, self.h, c // self.h).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.sa = SelfAttention(dim, heads, p)
        self.ff = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim), nn.Dropout(p))

    def forward(self, x):
        x = x + self.sa(self.ln_1(x))
        return x + self.ff(self.ln_2(x))


class MegaByte(nn.Module):
    def __init__(self, vocab=64, patch=4, patches=8, dim=16, width=32, p=0.1):
        super().__init__()
        self.patch, self.width = patch, width
        self.byte = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(patch * patches, dim)
        self.pad_patch = nn.Parameter(torch.randn(1, 1, patch * dim) * 0.1)
        self.to_global = nn.Linear(patch * dim, width)
        self.global_blocks = nn.ModuleList([Block(width, 4, p) for _ in range(2)])
        self.to_local = nn.Linear(width, patch * dim)
        self.local_byte = nn.Embedding(vocab, dim)
        self.pad_byte = nn.Parameter(torch.randn(1, 1, dim) * 0.1)
        self.local_blocks = nn.ModuleList([Block(dim, 2, p) for _ in range(2)])
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab, bias=False)

    def forward(self, bytes, targets=None):
        b, t = bytes.shape
        k = t // self.patch
        x = self.byte(bytes) + self.place(torch.arange(t))
        x = x.reshape(b, k, -1)
        x = torch.cat([self.pad_patch.expand(b, -1, -1), x[:, :-1]], dim=1)
        g = self.to_global(x)
        for block in self.global_blocks:
            g = block(g)
        g = self.to_local(g).reshape(b * k, self.patch, -1)
        y = self.local_byte(bytes).reshape(b * k, self.patch, -1)
        y = torch.cat([self.pad_byte.expand(b * k, -1, -1), y[:, :-1]], dim=1)
        y = y * math.sqrt(2) + g
        for block in self.local_blocks:
            y = block(y)
        logits = self.out(self.norm(y)).reshape(b, t, -1)
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


def build():
    text = torch.randint(0, 64, (3, 24))
    return {"model": MegaByte(), "batch": (text, text)}
