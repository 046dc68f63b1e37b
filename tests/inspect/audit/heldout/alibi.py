"""A small language model with ALiBi and no table of positions: one product for queries, keys and values, einsum throughout."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def slopes_of(heads):
    return torch.tensor([2.0 ** (-8.0 * (i + 1) / heads) for i in range(heads)])


class AlibiAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.wqkv, self.wo = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.register_buffer("slopes", slopes_of(heads), persistent=False)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.wqkv(x).chunk(3, dim=-1)
        q, k, v = (z.view(n, t, self.heads, self.head_dim) for z in (q, k, v))
        scores = torch.einsum("nqhd,nkhd->nhqk", q, k) * self.head_dim**-0.5
        place = torch.arange(t)
        distance = place[None, :] - place[:, None]
        scores = scores + self.slopes[:, None, None] * distance[None].float()
        scores = scores.masked_fill(distance > 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        out = torch.einsum("nhqk,nkhd->nqhd", weights, v)
        return self.wo(out.reshape(n, t, c))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = AlibiAttention(dim, heads)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        x = x + self.attn(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class AlibiLM(nn.Module):
    def __init__(self, vocab=53, dim=32, heads=4, depth=3):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(depth))
        self.norm_f = nn.LayerNorm(dim)

    def forward(self, input_ids, labels=None):
        h = self.wte(input_ids)
        for layer in self.layers:
            h = layer(h)
        logits = F.linear(self.norm_f(h), self.wte.weight)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return {"logits": logits} if loss is None else {"logits": logits, "loss": loss}


def build():
    ids = torch.randint(53, (4, 13))
    return {"model": AlibiLM(), "batch": {"input_ids": ids, "labels": ids}}
