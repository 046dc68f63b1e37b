"""A table of columns as tokens: numbers times vectors, categories by tables, a class token, MultiheadAttention."""

from dataclasses import dataclass

import badak as torch
from badak import nn


@dataclass
class Answers:
    price: torch.Tensor
    kind: torch.Tensor


class Columns(nn.Module):
    def __init__(self, numbers, sizes, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(0.2 * torch.randn(numbers, d)), nn.Parameter(0.02 * torch.randn(numbers, d))
        self.tables = nn.ModuleList([nn.Embedding(n, d) for n in sizes])
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, d))

    def forward(self, x, kinds):
        tokens = x.unsqueeze(-1) * self.weight + self.bias
        named = torch.stack([table(kinds[:, i]) for i, table in enumerate(self.tables)], dim=1)
        return torch.cat([self.cls.expand(len(x), -1, -1), tokens, named], dim=1)


class Mix(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.one, self.attn = nn.LayerNorm(d), nn.MultiheadAttention(d, h, batch_first=True)
        self.two, self.ff = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        y = self.one(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ff(self.two(x))


class TableFormer(nn.Module):
    def __init__(self, d=32, h=4, depth=2):
        super().__init__()
        self.columns = Columns(5, (6, 9, 4), d)
        self.layers = nn.ModuleList([Mix(d, h) for _ in range(depth)])
        self.norm, self.price, self.kind = nn.LayerNorm(d), nn.Linear(d, 1), nn.Linear(d, 3)

    def forward(self, x, kinds):
        h = self.columns(x, kinds)
        for layer in self.layers:
            h = layer(h)
        h = self.norm(h[:, 0])
        return Answers(self.price(h).squeeze(-1), self.kind(h))


def build():
    kinds = torch.stack([torch.randint(n, (7,)) for n in (6, 9, 4)], dim=1)
    return {"model": TableFormer(), "batch": (torch.randn(7, 5), kinds)}
