"""A decoder with differential attention: two softmaxes subtracted with a learned share, grouped keys, rotary pairs."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def angles(size, longest, base=1000.0):
    t = torch.arange(longest).float()[:, None]
    f = base ** (-torch.arange(0, size, 2).float() / size)
    return torch.cos(t * f), torch.sin(t * f)


def turn(x, cos, sin):  # (B, H, T, D), pairs of neighbours
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Norm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.scale, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return self.scale * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)


class DiffAttention(nn.Module):
    def __init__(self, width, heads, groups, depth):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads // 2
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, 2 * groups * self.size, bias=False)
        self.v = nn.Linear(width, 2 * groups * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.start = 0.8 - 0.6 * math.exp(-0.3 * depth)
        self.share = nn.Parameter(torch.randn(4, self.size) * 0.1)
        self.subnorm = Norm(2 * self.size)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        h, g, d = self.heads, self.groups, self.size
        q = self.q(x).view(b, t, 2 * h, d).transpose(1, 2)
        k = self.k(x).view(b, t, 2 * g, d).transpose(1, 2)
        v = self.v(x).view(b, t, g, 2 * d).transpose(1, 2)
        q, k = turn(q, cos[:t], sin[:t]), turn(k, cos[:t], sin[:t])
        k = k.view(b, g, 2, t, d).repeat_interleave(h // g, dim=1).flatten(1, 2)
        v = v.repeat_interleave(h // g, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(d)
        ahead = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(ahead, float("-inf")).softmax(dim=-1).view(b, h, 2, t, t)
        one, two, three, four = self.share
        part = torch.exp((one * two).sum()) - torch.exp((three * four).sum()) + self.start
        y = (weights[:, :, 0] - part * weights[:, :, 1]) @ v
        y = self.subnorm(y) * (1 - self.start)
        return self.o(y.transpose(1, 2).reshape(b, t, -1))


class Layer(nn.Module):
    def __init__(self, width, heads, groups, depth):
        super().__init__()
        self.attn_norm, self.attn = Norm(width), DiffAttention(width, heads, groups, depth)
        self.mlp_norm = Norm(width)
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attn(self.attn_norm(x), cos, sin)
        h = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class DiffLM(nn.Module):
    def __init__(self, vocab=48, width=32, heads=4, groups=2, depth=3, longest=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Layer(width, heads, groups, i) for i in range(depth))
        self.norm = Norm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        cos, sin = angles(width // heads // 2, longest)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.lm_head(self.norm(x))


def build():
    return {"model": DiffLM(), "batch": torch.randint(0, 48, (4, 14))}
