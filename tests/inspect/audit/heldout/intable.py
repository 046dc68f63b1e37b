"""A table answered in one forward: rows whose answer is known are the context, the others ask them and never each other;
every cell attends along its row to the other columns and along its column to the rows that are known."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CellEncoder(nn.Module):
    def __init__(self, columns, dim):
        super().__init__()
        self.value = nn.Linear(1, dim)
        self.column = nn.Parameter(torch.randn(columns, dim) * 0.5)

    def forward(self, x):
        return self.value(x.unsqueeze(-1)) + self.column


class TargetEncoder(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.known = nn.Embedding(classes, dim)
        self.unknown = nn.Parameter(torch.randn(dim) * 0.5)

    def forward(self, y, n_rows):
        e = self.known(y)
        rest = self.unknown.expand(y.shape[0], n_rows - y.shape[1], -1)
        return torch.cat([e, rest], dim=1)


class MHA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.kv, self.out = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def forward(self, x, y):
        d = x.shape[-1] // self.heads
        q = self.q(x).unflatten(-1, (self.heads, d)).transpose(-3, -2)
        k, v = self.kv(y).unflatten(-1, (2, self.heads, d)).unbind(-3)
        k, v = k.transpose(-3, -2), v.transpose(-3, -2)
        weights = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, dim=-1)
        return self.out((weights @ v).transpose(-3, -2).flatten(-2))


class TableLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.features, self.samples = MHA(dim, heads), MHA(dim, heads)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x, n_train):
        x = self.n1(x + self.features(x, x))
        s = x.transpose(1, 2)
        context = s[:, :, :n_train]
        s = self.n2(s + self.samples(s, context))
        x = s.transpose(1, 2)
        return self.n3(x + self.ff(x))


class InContextTable(nn.Module):
    def __init__(self, columns=5, classes=3, dim=32, heads=4, depth=3):
        super().__init__()
        self.cells, self.targets = CellEncoder(columns, dim), TargetEncoder(classes, dim)
        self.layers = nn.ModuleList([TableLayer(dim, heads) for _ in range(depth)])
        self.head = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, classes))

    def forward(self, x, y_train, y_test=None):
        n = y_train.shape[1]
        mean, std = x[:, :n].mean(1, keepdim=True), x[:, :n].std(1, keepdim=True)
        x = (x - mean) / (std + 1e-6)
        cells = self.cells(x)
        target = self.targets(y_train, x.shape[1]).unsqueeze(2)
        h = torch.cat([cells, target], dim=2)
        for layer in self.layers:
            h = layer(h, n)
        logits = self.head(h[:, n:, -1])
        if y_test is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), y_test.flatten())


def build():
    return {
        "model": InContextTable(),
        "batch": {"x": torch.randn(4, 12, 5), "y_train": torch.randint(0, 3, (4, 8)), "y_test": torch.randint(0, 3, (4, 4))},
    }
