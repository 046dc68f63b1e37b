"""Whether two questions ask the same: one text with segments and a separator, relative biases, mean over what is no padding."""

import badak as torch
from badak import nn


class Biased(nn.Module):
    def __init__(self, d, heads, reach=8):
        super().__init__()
        self.heads, self.reach = heads, reach
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))
        self.bias = nn.Embedding(2 * reach + 1, heads)
        self.drop = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, real):
        t = x.size(1)
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        where = torch.arange(t)
        far = (where[None, :] - where[:, None]).clamp(-self.reach, self.reach) + self.reach
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5 + self.bias(far).permute(2, 0, 1)
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        y = self.drop(scores.softmax(-1)) @ v
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Biased(d, heads), nn.LayerNorm(d), nn.LayerNorm(d)
        self.inner, self.outer = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x, real):
        x = self.norm1(x + self.attention(x, real))
        return self.norm2(x + self.outer(torch.relu(self.inner(x))))


class Same(nn.Module):
    def __init__(self, vocab=90, d=32, heads=4, depth=2):
        super().__init__()
        self.words = nn.Embedding(vocab, d, padding_idx=0)
        self.segments = nn.Embedding(2, d)
        self.blocks = nn.ModuleList([Block(d, heads) for _ in range(depth)])
        self.pool = nn.Linear(d, d)
        self.verdict = nn.Linear(d, 2)

    def forward(self, ids, segments, labels=None):
        real = ids != 0
        x = self.words(ids) + self.segments(segments)
        for block in self.blocks:
            x = block(x, real)
        counts = real.unsqueeze(-1).float()
        mean = (x * counts).sum(dim=1) / counts.sum(dim=1)
        logits = self.verdict(torch.tanh(self.pool(mean)))
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def build():
    ids = torch.randint(2, 90, (4, 14))
    ids[1, 10:] = 0
    ids[2, 8:] = 0
    ids[:, 6] = 1
    segments = (torch.arange(14) > 6).long().expand(4, -1) * (ids != 0)
    return {"model": Same(), "batch": {"ids": ids, "segments": segments, "labels": torch.tensor([0, 1, 1, 0])}}
