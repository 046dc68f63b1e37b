"""A Perceiver for texts: a few learned latents ask the padded text, then each other, and are averaged for a label."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CrossAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_kv, self.to_out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * d, bias=False), nn.Linear(d, d)

    def forward(self, x, context, mask=None):
        b, n, d = x.shape
        q = self.to_q(x).view(b, n, self.heads, -1)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        k, v = (z.view(b, z.shape[1], self.heads, -1) for z in (k, v))
        sim = torch.einsum("bihd,bjhd->bhij", q, k) * (d // self.heads) ** -0.5
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = torch.einsum("bhij,bjhd->bihd", attn, v)
        return self.to_out(out.reshape(b, n, d))


class GEGLU(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.inner, self.outer = nn.Linear(d, 4 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        x, gates = self.inner(x).chunk(2, dim=-1)
        return self.outer(x * F.gelu(gates))


class Perceiver(nn.Module):
    def __init__(self, vocab=44, d=32, n_latents=6, depth=2, heads=4, classes=4, longest=24):
        super().__init__()
        self.token_emb, self.pos_emb = nn.Embedding(vocab, d), nn.Embedding(longest, d)
        self.latents = nn.Parameter(torch.randn(n_latents, d) * 0.3)
        self.cross_norm, self.context_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.cross, self.cross_ff = CrossAttention(d, heads), GEGLU(d)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(d), "attn": CrossAttention(d, heads), "ffnorm": nn.LayerNorm(d), "ff": GEGLU(d)})
            for _ in range(depth)
        )
        self.to_logits = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, classes))

    def forward(self, ids, mask):
        n = torch.arange(ids.shape[1])
        data = self.token_emb(ids) + self.pos_emb(n)[None]
        x = self.latents.unsqueeze(0).expand(ids.shape[0], -1, -1)
        x = x + self.cross(self.cross_norm(x), self.context_norm(data), mask)
        x = x + self.cross_ff(x)
        for layer in self.layers:
            y = layer["norm"](x)
            x = x + layer["attn"](y, y)
            x = x + layer["ff"](layer["ffnorm"](x))
        return self.to_logits(x.mean(dim=1))


def build():
    ids = torch.randint(1, 44, (5, 12))
    mask = torch.arange(12)[None] < torch.tensor([12, 7, 9, 12, 5])[:, None]
    return {"model": Perceiver(), "batch": (ids * mask, mask)}
