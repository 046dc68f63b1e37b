"""A language model in the shape of an hourglass: blocks at full length, then three tokens at a time, then full length again."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CausalAttention(nn.Module):
    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class HourBlock(nn.Module):
    def __init__(self, dim, n_head):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CausalAttention(dim, n_head)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Hourglass(nn.Module):
    def __init__(self, vocab=45, dim=32, n_head=4, k=3, longest=24):
        super().__init__()
        self.k = k
        self.wte, self.wpe = nn.Embedding(vocab, dim), nn.Embedding(longest, dim)
        self.pre = nn.ModuleList([HourBlock(dim, n_head) for _ in range(1)])
        self.shorten = nn.Linear(k * dim, dim)
        self.middle = nn.ModuleList([HourBlock(dim, n_head) for _ in range(2)])
        self.upsample = nn.Linear(dim, k * dim)
        self.post = nn.ModuleList([HourBlock(dim, n_head) for _ in range(1)])
        self.ln_f, self.lm_head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        b, t = idx.shape
        x = self.wte(idx) + self.wpe(torch.arange(t))
        for block in self.pre:
            x = block(x)
        shifted = F.pad(x, (0, 0, self.k - 1, 0))[:, :t]  # a group ends with the token that opens it
        short = self.shorten(shifted.reshape(b, t // self.k, -1))
        for block in self.middle:
            short = block(short)
        x = x + self.upsample(short).view(b, t, -1)
        for block in self.post:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def build():
    return {"model": Hourglass(), "batch": torch.randint(0, 45, (4, 18))}
