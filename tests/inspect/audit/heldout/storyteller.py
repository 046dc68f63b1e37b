"""Stories of pictures: a convolutional grid, learned queries that sum it up."""

from types import SimpleNamespace

import badak as torch
import badak.nn.functional as F
from badak import nn


class Vision(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 4, 4), nn.ReLU(), nn.Conv2d(16, width, 1))
        self.where = nn.Parameter(0.1 * torch.randn(25, width))

    def forward(self, images):
        return self.net(images).flatten(2).transpose(1, 2) + self.where


class Resampler(nn.Module):
    def __init__(self, width, heads, queries):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(queries, width))
        self.norm_q, self.norm_m = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ff = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, memory):
        q = self.queries.expand(memory.size(0), -1, -1)
        m = self.norm_m(memory)
        q = q + self.attn(self.norm_q(q), m, m, need_weights=False)[0]
        return q + self.ff(q)


class GatedCross(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.attn = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, batch_first=True)
        self.gate = nn.Parameter(torch.tensor(0.5))

    def forward(self, x, seen):
        return x + torch.tanh(self.gate) * self.attn(self.norm(x), seen, seen, need_weights=False)[0]


class TextLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, hide):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, attn_mask=hide, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class Storyteller(nn.Module):
    def __init__(self, vocab=43, width=32, heads=4, depth=2):
        super().__init__()
        self.vision, self.resampler = Vision(width), Resampler(width, heads, 4)
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(24, width)
        self.cross = nn.ModuleList([GatedCross(width, heads) for _ in range(depth)])
        self.text = nn.ModuleList([TextLayer(width, heads) for _ in range(depth)])
        self.norm, self.unembed = nn.LayerNorm(width), nn.Linear(width, vocab)

    def forward(self, images, words):
        seen = self.resampler(self.vision(images))
        t = words.size(1)
        x = self.tok(words) + self.pos(torch.arange(t))
        hide = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
        for cross, text in zip(self.cross, self.text):
            x = text(cross(x, seen), hide)
        logits = self.unembed(self.norm(x))
        loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), words[:, 1:])
        return SimpleNamespace(loss=loss, logits=logits, seen=seen)


def build():
    return {"model": Storyteller(), "batch": (torch.randn(3, 3, 20, 20), torch.randint(43, (3, 11)))}
