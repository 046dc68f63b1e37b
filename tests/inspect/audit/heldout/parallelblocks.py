"""A causal model with attention and map side by side, slopes for distances, (T, B, C) inside, ids (B, T)."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class SideBySide(nn.Module):
    def __init__(self, c, h):
        super().__init__()
        self.h, self.norm = h, nn.LayerNorm(c)
        self.into, self.back, self.up, self.down = nn.Linear(c, 3 * c), nn.Linear(c, c), nn.Linear(c, 2 * c), nn.Linear(2 * c, c)

    def forward(self, x, bias):
        t, b, c = x.shape
        y = self.norm(x)
        q, k, v = (each.reshape(t, b * self.h, c // self.h).transpose(0, 1) for each in self.into(y).chunk(3, dim=-1))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(c // self.h)
        scores = (scores.view(b, self.h, t, t) + bias).view(b * self.h, t, t)
        z = torch.bmm(scores.softmax(-1), v).transpose(0, 1).reshape(t, b, c)
        return x + self.back(z) + self.down(F.relu(self.up(y)).square())


class Parallel(nn.Module):
    def __init__(self, vocab=45, c=32, h=4, depth=3):
        super().__init__()
        self.h, self.words = h, nn.Embedding(vocab, c)
        self.stack = nn.ModuleList(SideBySide(c, h) for _ in range(depth))
        self.norm, self.answer = nn.LayerNorm(c), nn.Linear(c, vocab)

    def slopes(self, t):
        apart = torch.arange(t)[None] - torch.arange(t)[:, None]
        slope = 2.0 ** -torch.arange(1, self.h + 1).float()
        return (slope[:, None, None] * apart).masked_fill(apart > 0, float("-inf"))

    def forward(self, ids):
        x, target = self.words(ids[:, :-1]).transpose(0, 1), ids[:, 1:]
        bias = self.slopes(x.size(0))
        for layer in self.stack:
            x = layer(x, bias)
        logits = self.answer(self.norm(x)).transpose(0, 1)
        return F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1))


def build():
    return {"model": Parallel(), "batch": torch.randint(45, (3, 13))}
