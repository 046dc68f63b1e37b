"""A chat model in the manner of open weights: windows in all layers but every third, few heads of keys, halves turned,
queries and keys normalised, scores capped, an output gate; a class of its own for what is remembered."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class KVCache:
    def __init__(self, n_layers):
        self.k, self.v = [None] * n_layers, [None] * n_layers

    @property
    def length(self):
        return 0 if self.k[0] is None else self.k[0].shape[2]

    def update(self, i, k, v):
        if self.k[i] is not None:
            k, v = torch.cat([self.k[i], k], dim=2), torch.cat([self.v[i], v], dim=2)
        self.k[i], self.v[i] = k, v
        return k, v


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.scale = eps, nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps) * (1 + self.scale)


class Rotary(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.register_buffer("inv_freq", base ** -(torch.arange(0, dim, 2).float() / dim), persistent=False)

    def forward(self, positions):
        angle = positions[:, None].float() * self.inv_freq[None, :]
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class SelfAttention(nn.Module):
    def __init__(self, dim, n_heads, n_kv, window, idx, softcap=20.0):
        super().__init__()
        self.n_heads, self.n_kv, self.hd = n_heads, n_kv, dim // n_heads
        self.window, self.idx, self.softcap = window, idx, softcap
        self.q_proj = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.kv_proj = nn.Linear(dim, 2 * n_kv * self.hd, bias=False)
        self.g_proj, self.o_proj = nn.Linear(dim, n_heads, bias=False), nn.Linear(n_heads * self.hd, dim, bias=False)
        self.q_norm, self.k_norm = RMSNorm(self.hd), RMSNorm(self.hd)
        self.rotary = Rotary(self.hd, 10000.0 if window else 100000.0)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        past = 0 if cache is None or cache.k[self.idx] is None else cache.k[self.idx].shape[2]
        q = self.q_norm(self.q_proj(x).view(b, t, self.n_heads, self.hd)).transpose(1, 2)
        k, v = self.kv_proj(x).view(b, t, 2, self.n_kv, self.hd).unbind(2)
        k, v = self.k_norm(k).transpose(1, 2), v.transpose(1, 2)
        cos, sin = self.rotary(torch.arange(past, past + t))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            k, v = cache.update(self.idx, k, v)
        s = k.shape[2]
        k = k[:, :, None].expand(b, self.n_kv, self.n_heads // self.n_kv, s, self.hd).reshape(b, self.n_heads, s, self.hd)
        v = v[:, :, None].expand(b, self.n_kv, self.n_heads // self.n_kv, s, self.hd).reshape(b, self.n_heads, s, self.hd)
        scores = q @ k.transpose(-1, -2) * self.hd**-0.5
        scores = self.softcap * torch.tanh(scores / self.softcap)
        i, j = torch.arange(past, past + t)[:, None], torch.arange(s)[None, :]
        keep = j <= i
        if self.window:
            keep = keep & (i - j < self.window)
        scores = scores.masked_fill(~keep, torch.finfo(scores.dtype).min)
        y = scores.softmax(-1) @ v
        y = y * torch.sigmoid(self.g_proj(x)).transpose(1, 2).unsqueeze(-1)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, dim, n_heads, n_kv, window, idx):
        super().__init__()
        self.attn, self.ff = SelfAttention(dim, n_heads, n_kv, window, idx), FeedForward(dim, 2 * dim)
        self.pre_attn, self.post_attn = RMSNorm(dim), RMSNorm(dim)
        self.pre_ff, self.post_ff = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, cache=None):
        x = x + self.post_attn(self.attn(self.pre_attn(x), cache))
        return x + self.post_ff(self.ff(self.pre_ff(x)))


class SlideLM(nn.Module):
    def __init__(self, vocab=64, dim=32, n_heads=4, n_kv=2, n_layers=3, window=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        self.layers = nn.ModuleList([Layer(dim, n_heads, n_kv, 0 if i % 3 == 2 else window, i) for i in range(n_layers)])
        self.norm, self.scale = RMSNorm(dim), dim**0.5

    def forward(self, ids, cache=None):
        x = self.embed(ids) * self.scale
        for layer in self.layers:
            x = layer(x, cache)
        logits = F.linear(self.norm(x), self.embed.weight)
        return logits if cache is None else (logits, cache)

    @torch.no_grad()
    def generate(self, ids, steps):
        cache = KVCache(len(self.layers))
        step = ids
        for _ in range(steps):
            logits, cache = self(step, cache)
            step = logits[:, -1:].argmax(-1)
            ids = torch.cat([ids, step], dim=1)
        return ids


def build():
    return {"model": SlideLM(), "batch": torch.randint(0, 64, (4, 12))}
