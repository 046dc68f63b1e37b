"""Multi-query attention: heads of queries, one of keys and values; scaled embeddings, tied weights, a loss."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.dh = heads, dim // heads
        self.fused = nn.Linear(dim, dim + 2 * self.dh, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask):
        b, t, c = x.shape
        q, k, v = self.fused(x).split([c, self.dh, self.dh], dim=-1)
        q = q.view(b, t, self.heads, self.dh)
        att = torch.einsum("bthd,bsd->bhts", q, k) * self.dh**-0.5
        att = att + mask
        att = torch.softmax(att, -1)
        y = torch.einsum("bhts,bsd->bthd", att, v)
        return self.proj(y.flatten(2))


class Layer(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.n1, self.n2, self.att = nn.RMSNorm(dim), nn.RMSNorm(dim), MultiQueryAttention(dim, heads)
        self.w, self.vg, self.w2, self.drop = (
            nn.Linear(dim, 2 * dim),
            nn.Linear(dim, 2 * dim),
            nn.Linear(2 * dim, dim),
            nn.Dropout(p),
        )

    def forward(self, x, mask):
        x = x + self.drop(self.att(self.n1(x), mask))
        h = self.n2(x)
        return x + self.drop(self.w2(F.gelu(self.w(h)) * self.vg(h)))


class MQGPT(nn.Module):
    def __init__(self, vocab=56, dim=40, heads=5, depth=2, longest=24, p=0.1):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(longest, dim)
        self.layers = nn.ModuleList([Layer(dim, heads, p) for _ in range(depth)])
        self.norm, self.out, self.dim = nn.RMSNorm(dim), nn.Linear(dim, vocab, bias=False), dim
        self.out.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.05)

    def forward(self, ids, labels=None):
        t = ids.size(1)
        x = self.tok(ids) * self.dim**0.5 + self.pos(torch.arange(t))
        mask = torch.zeros(t, t).masked_fill(torch.arange(t)[None, :] > torch.arange(t)[:, None], float("-inf"))
        for layer in self.layers:
            x = layer(x, mask)
        logits = self.out(self.norm(x))
        loss = None if labels is None else F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-1)
        return {"loss": loss, "logits": logits}


def build():
    text = torch.randint(56, (4, 15))
    return {"model": MQGPT(), "batch": {"ids": text[:, :-1], "labels": text[:, 1:]}}
