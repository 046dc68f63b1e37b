"""A long text of which the last places alone are latents: they ask all that stands before them once, and then each other, all from
left to right; rotary halves counted from the end of the whole, a cap on nothing, embeddings of input and output apart."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def angles(positions, dim):
    inv = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
    a = positions.float()[:, None] * inv
    return torch.cat((a, a), dim=-1)


def turn(x, a):
    half = x.shape[-1] // 2
    return x * a.cos() + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * a.sin()


class CausalAttention(nn.Module):
    def __init__(self, dim, heads, cross=False):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.norm = nn.LayerNorm(dim)
        self.context_norm = nn.LayerNorm(dim) if cross else None
        self.to_q, self.to_kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.heads, self.d)).transpose(1, 2)

    def forward(self, x, pos, context=None):
        x = self.norm(x)
        seen = x if context is None else torch.cat((self.context_norm(context), x), dim=1)
        q = self.split(self.to_q(x))
        k, v = (self.split(t) for t in self.to_kv(seen).chunk(2, dim=-1))
        n, m = q.shape[2], k.shape[2]
        q, k = turn(q, pos[-n:]), turn(k, pos[-m:])
        sim = torch.einsum("bhid,bhjd->bhij", q * self.d**-0.5, k)
        hidden = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1)
        sim = sim.masked_fill(hidden, -torch.finfo(sim.dtype).max)
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, dim, mult=2):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, mult * dim), nn.Linear(mult * dim, dim)

    def forward(self, x):
        return self.down(F.relu(self.up(self.norm(x))) ** 2)


class LatentAR(nn.Module):
    def __init__(self, tokens=53, dim=32, heads=4, depth=2, latents=6):
        super().__init__()
        self.latents, self.head_dim = latents, dim // heads
        self.token_emb = nn.Embedding(tokens, dim)
        self.cross, self.cross_ff = CausalAttention(dim, heads, cross=True), FeedForward(dim)
        self.layers = nn.ModuleList([nn.ModuleList([CausalAttention(dim, heads), FeedForward(dim)]) for _ in range(depth)])
        self.to_logits = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, tokens, bias=False))

    def forward(self, x, labels=None):
        pos = angles(torch.arange(x.shape[1]), self.head_dim)
        h = self.token_emb(x)
        before, h = h[:, : -self.latents], h[:, -self.latents :]
        h = self.cross(h, pos, before) + h
        h = self.cross_ff(h) + h
        for attn, ff in self.layers:
            h = attn(h, pos) + h
            h = ff(h) + h
        logits = self.to_logits(h)
        if labels is None:
            return logits
        return F.cross_entropy(logits.transpose(1, 2), labels[:, -self.latents :])


def build():
    text = torch.randint(0, 53, (4, 15))
    return {"model": LatentAR(), "batch": (text[:, :-1],)}
