"""A masked language model whose attention has a learned bias for each distance; the loss of masked places and a mask of padding."""

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, MASK = 0, 1


class DistanceAttention(nn.Module):
    def __init__(self, dim, heads, reach):
        super().__init__()
        self.heads, self.reach = heads, reach
        self.query, self.key, self.value, self.merge = (nn.Linear(dim, dim) for _ in range(4))
        self.distance = nn.Embedding(2 * reach + 1, heads)

    def forward(self, x, keep):
        b, t, d = x.shape
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        apart = (torch.arange(t)[None] - torch.arange(t)[:, None]).clamp(-self.reach, self.reach) + self.reach
        bias = self.distance(apart).permute(2, 0, 1)
        bias = bias.masked_fill(~keep[:, None, None, :], -1e9)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.merge(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, dim, heads, reach):
        super().__init__()
        self.pre, self.attend = nn.LayerNorm(dim), DistanceAttention(dim, heads, reach)
        self.mid, self.wide, self.narrow = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x, keep):
        x = x + self.attend(self.pre(x), keep)
        return x + self.narrow(F.gelu(self.wide(self.mid(x))))


class MaskedLM(nn.Module):
    def __init__(self, vocab=51, dim=32, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.blocks = nn.ModuleList([Block(dim, heads, 4) for _ in range(depth)])
        self.final, self.bias = nn.LayerNorm(dim), nn.Parameter(torch.zeros(vocab))

    def forward(self, ids, labels):
        keep = ids != PAD
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, keep)
        logits = self.final(x) @ self.embed.weight.t() + self.bias
        return {"loss": F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100), "logits": logits}


def build():
    labels = torch.randint(2, 51, (4, 12))
    for row, n in enumerate((12, 9, 7, 10)):
        labels[row, n:] = PAD
    chosen = (torch.rand(4, 12) < 0.3) & (labels != PAD)
    ids = labels.masked_fill(chosen, MASK)
    return {"model": MaskedLM(), "batch": {"ids": ids, "labels": labels.masked_fill(~chosen, -100)}}
