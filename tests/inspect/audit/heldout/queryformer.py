"""Learned queries ask a picture and stand before a text that a decoder goes on writing (as BLIP-2): a prefix that all may see."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


def attend(q, k, v, keep=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if keep is not None:
        scores = scores.masked_fill(~keep, -1e9)
    return F.softmax(scores, dim=-1) @ v


class Heads(nn.Module):
    def __init__(self, d, heads, source=None):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(d, d)
        self.to_kv = nn.Linear(source or d, 2 * d)
        self.merge = nn.Linear(d, d)

    def cut(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, source, keep=None):
        k, v = self.to_kv(source).chunk(2, dim=-1)
        y = attend(self.cut(self.to_q(x)), self.cut(k), self.cut(v), keep)
        return self.merge(y.transpose(1, 2).reshape(x.shape))


class Feed(nn.Sequential):
    def __init__(self, d):
        super().__init__(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))


class QueryLayer(nn.Module):
    def __init__(self, d, heads, source):
        super().__init__()
        self.n1, self.n2, self.n3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.own, self.cross, self.feed = Heads(d, heads), Heads(d, heads, source), Feed(d)

    def forward(self, x, picture):
        h = self.n1(x)
        x = x + self.own(h, h)
        x = x + self.cross(self.n2(x), picture)
        return x + self.feed(self.n3(x))


class TextLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.own, self.feed = Heads(d, heads), Feed(d)

    def forward(self, x, keep):
        h = self.n1(x)
        x = x + self.own(h, h, keep)
        return x + self.feed(self.n2(x))


class QueryCaptioner(nn.Module):
    def __init__(self, vocab=57, d=32, heads=4, queries=5, longest=30, source=24):
        super().__init__()
        self.patches = nn.Conv2d(3, source, 4, stride=4)
        self.where = nn.Parameter(torch.randn(1, 16, source) * 0.3)
        self.queries = nn.Parameter(torch.randn(1, queries, d) * 0.5)
        self.qformer = nn.ModuleList([QueryLayer(d, heads, source) for _ in range(2)])
        self.bridge = nn.Linear(d, d)
        self.words, self.places = nn.Embedding(vocab, d), nn.Embedding(longest, d)
        self.decoder = nn.ModuleList([TextLayer(d, heads) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)

    def forward(self, pixels, caption):
        picture = self.patches(pixels).flatten(2).transpose(1, 2) + self.where
        asked = self.queries.expand(len(pixels), -1, -1)
        for layer in self.qformer:
            asked = layer(asked, picture)
        prefix = self.bridge(asked)
        text = self.words(caption) + self.places(torch.arange(caption.size(1)))
        x = torch.cat([prefix, text], dim=1)
        p, n = prefix.size(1), x.size(1)
        keep = torch.ones(n, n, dtype=torch.bool).tril()
        keep[:, :p] = True
        keep[:p, p:] = False
        for layer in self.decoder:
            x = layer(x, keep)
        return self.head(self.norm(x[:, p:]))


def build():
    return {"model": QueryCaptioner(), "batch": {"pixels": torch.randn(4, 3, 16, 16), "caption": torch.randint(57, (4, 12))}}
