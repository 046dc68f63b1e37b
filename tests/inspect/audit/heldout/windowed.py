"""A decoder as Mistral has it: sliding window, grouped heads repeated by expand, rotary halves, RMSNorm, SwiGLU."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps))


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rope(x, cos, sin):
    return x * cos + rotate_half(x) * sin


class WindowAttention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, window):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.hd, self.window = n_heads, n_kv_heads, dim // n_heads, window
        self.q_proj = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.k_proj = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.v_proj = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.o_proj = nn.Linear(n_heads * self.hd, dim, bias=False)

    def repeat_kv(self, x):
        b, g, t, d = x.shape
        return x[:, :, None].expand(b, g, self.n_heads // g, t, d).reshape(b, self.n_heads, t, d)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.n_heads, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.n_kv_heads, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.n_kv_heads, self.hd).transpose(1, 2)
        q, k = apply_rope(q, cos, sin), apply_rope(k, cos, sin)
        k, v = self.repeat_kv(k), self.repeat_kv(v)
        i, j = torch.arange(t)[:, None], torch.arange(t)[None, :]
        allowed = (j <= i) & (j > i - self.window)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))


class DecoderLayer(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, window):
        super().__init__()
        self.self_attn = WindowAttention(dim, n_heads, n_kv_heads, window)
        self.gate_proj, self.up_proj = nn.Linear(dim, 80, bias=False), nn.Linear(dim, 80, bias=False)
        self.down_proj = nn.Linear(80, dim, bias=False)
        self.input_norm, self.post_norm = RMSNorm(dim), RMSNorm(dim)

    def forward(self, h, cos, sin):
        h = h + self.self_attn(self.input_norm(h), cos, sin)
        n = self.post_norm(h)
        return h + self.down_proj(F.silu(self.gate_proj(n)) * self.up_proj(n))


class Windowed(nn.Module):
    def __init__(self, vocab=60, dim=48, depth=2, n_heads=6, n_kv_heads=2, window=6):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([DecoderLayer(dim, n_heads, n_kv_heads, window) for _ in range(depth)])
        self.norm, self.lm_head = RMSNorm(dim), nn.Linear(dim, vocab, bias=False)
        self.hd = dim // n_heads

    def forward(self, tokens):
        t = torch.arange(tokens.shape[1]).float()
        inv = 1.0 / (10000.0 ** (torch.arange(0, self.hd, 2).float() / self.hd))
        freqs = torch.outer(t, inv)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos(), emb.sin()
        h = self.embed_tokens(tokens)
        for layer in self.layers:
            h = layer(h, cos, sin)
        return self.lm_head(self.norm(h))


def build():
    return {"model": Windowed(), "batch": torch.randint(60, (3, 15))}
