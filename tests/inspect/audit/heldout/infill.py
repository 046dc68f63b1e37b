"""A prefix model: a prompt that all may see, an answer from left to right; the mask is built in its forward."""

import badak as torch
from badak import nn
from badak.nn import functional as F


class Mix(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def heads_of(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, keep):
        q, k, v = self.heads_of(self.q(x)), self.heads_of(self.k(x)), self.heads_of(self.v(x))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return self.o(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2, self.mix = nn.LayerNorm(d), nn.LayerNorm(d), Mix(d, heads)
        self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(3 * d, d)

    def forward(self, x, keep):
        x = x + self.mix(self.n1(x), keep)
        return x + self.down(F.silu(self.up(self.n2(x))))


class Story(nn.Module):
    def __init__(self, vocab=72, d=32, heads=4, depth=3, longest=48):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, d), nn.Embedding(longest, d)
        self.layers = nn.ModuleList([Layer(d, heads) for _ in range(depth)])
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, ids, labels=None):
        t = ids.size(1)
        row = torch.arange(t)
        keep = row[:, None] >= row[None, :]
        x = self.words(ids) + self.places(row)
        for layer in self.layers:
            x = layer(x, keep)
        logits = self.out(self.norm(x))
        if labels is None:
            return logits
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return loss, logits


def build():
    ids = torch.randint(72, (3, 12))
    return {"model": Story(), "batch": {"ids": ids, "labels": ids}}
