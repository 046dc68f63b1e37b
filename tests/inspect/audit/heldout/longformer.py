"""Long documents: chunks that see themselves and the chunk before and behind, one token that sees all; two labels a document."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class ChunkedAttention(nn.Module):
    def __init__(self, d, heads, chunk):
        super().__init__()
        self.h, self.chunk = heads, chunk
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, keep):
        b, t, d = x.shape
        c, n = self.chunk, t // self.chunk
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        q = q.reshape(b, self.h, n, c, -1)

        def around(z, fill=0.0):
            z = z.reshape(*z.shape[:-2], n, c, z.shape[-1])
            padded = F.pad(z, (0, 0, 0, 0, 1, 1), value=fill)
            return torch.cat([padded[..., 0:n, :, :], padded[..., 1 : n + 1, :, :], padded[..., 2 : n + 2, :, :]], dim=-2)

        seen = around(keep.float()[:, None, :, None]).squeeze(-1).bool()
        scores = q @ around(k).transpose(-1, -2) / (d // self.h) ** 0.5
        scores = scores.masked_fill(~seen.unsqueeze(-2), -1e9)
        y = scores.softmax(-1) @ around(v)
        return self.o(y.reshape(b, self.h, t, -1).transpose(1, 2).reshape(b, t, d))


class GlobalToken(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, g, x, keep):
        scores = (self.q(g).unsqueeze(1) * self.k(x)).sum(-1) / x.shape[-1] ** 0.5
        weights = scores.masked_fill(~keep, -1e9).softmax(-1)
        return (weights.unsqueeze(-1) * self.v(x)).sum(1)


class Layer(nn.Module):
    def __init__(self, d, heads, chunk):
        super().__init__()
        self.local, self.wide = ChunkedAttention(d, heads, chunk), GlobalToken(d)
        self.n1, self.n2, self.n3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * d, d))

    def forward(self, x, g, keep):
        x = x + self.local(self.n1(x), keep) + g.unsqueeze(1)
        x = x + self.ff(self.n2(x))
        g = self.n3(g + self.wide(g, x, keep))
        return x, g


class LongClassifier(nn.Module):
    def __init__(self, vocab=45, d=32, heads=4, chunk=4, depth=2, classes=2):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, d, padding_idx=0), nn.Embedding(64, d)
        self.start = nn.Parameter(0.1 * torch.randn(d))
        self.layers = nn.ModuleList([Layer(d, heads, chunk) for _ in range(depth)])
        self.label = nn.Linear(d, classes)

    def forward(self, ids):
        keep = ids.ne(0)
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        g = self.start.expand(ids.shape[0], -1)
        for layer in self.layers:
            x, g = layer(x, g, keep)
        return self.label(g)


def build():
    ids = torch.randint(1, 45, (4, 16))
    ids[0, 11:], ids[2, 9:] = 0, 0
    return {"model": LongClassifier(), "batch": (ids,)}
