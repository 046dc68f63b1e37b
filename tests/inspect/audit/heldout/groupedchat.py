"""A chat model with grouped keys by einsum, RMS norms, scores in float32, a sinusoid added once, logits of a tied table."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


def sinusoid(n, d):
    place = torch.arange(n).float()[:, None]
    rate = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    return torch.stack([torch.sin(place * rate), torch.cos(place * rate)], dim=-1).flatten(1)


class RMS(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x / (x.pow(2).mean(dim=-1, keepdim=True) + 1e-6).sqrt() * self.g


class Grouped(nn.Module):
    def __init__(self, d, heads, groups):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, d // heads
        self.wq = nn.Linear(d, d, bias=False)
        self.wk = nn.Linear(d, groups * self.size, bias=False)
        self.wv = nn.Linear(d, groups * self.size, bias=False)
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x, hide):
        b, t, d = x.shape
        q = self.wq(x).view(b, t, self.groups, self.heads // self.groups, self.size)
        k = self.wk(x).view(b, t, self.groups, self.size)
        v = self.wv(x).view(b, t, self.groups, self.size)
        scores = torch.einsum("btgns,bugs->bgntu", q, k) / math.sqrt(self.size)
        scores = scores.float().masked_fill(hide, -1e9)
        weights = scores.softmax(dim=-1)
        y = torch.einsum("bgntu,bugs->btgns", weights, v)
        return self.wo(y.reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, d, heads, groups):
        super().__init__()
        self.n1, self.n2 = RMS(d), RMS(d)
        self.mix = Grouped(d, heads, groups)
        self.up, self.gate, self.down = nn.Linear(d, 2 * d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x, hide):
        x = x + self.mix(self.n1(x), hide)
        h = self.n2(x)
        return x + self.down(F.gelu(self.gate(h)) * self.up(h))


class GroupedChat(nn.Module):
    def __init__(self, vocab=83, d=48, heads=6, groups=3, depth=3, longest=64):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        self.register_buffer("places", sinusoid(longest, d) * 0.2)
        self.layers = nn.ModuleList([Layer(d, heads, groups) for _ in range(depth)])
        self.norm = RMS(d)
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        t = ids.shape[1]
        hide = torch.ones(t, t, dtype=torch.bool).triu(1)
        x = self.table(ids) + self.places[:t]
        for layer in self.layers:
            x = layer(x, hide)
        return self.head(self.norm(x))


def build():
    return {"model": GroupedChat(), "batch": {"ids": torch.randint(83, (3, 13))}}
