"""A decoder with rotary pairs of neighbours, grouped heads, normalised queries and keys, tied words; a dataclass comes back."""

import math
from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class LMOutput:
    logits: torch.Tensor
    hidden: torch.Tensor


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps) * self.weight


def rope_table(length, dim, base=10000.0):
    freq = base ** (-torch.arange(0, dim, 2).float() / dim)
    angle = torch.outer(torch.arange(length).float(), freq)
    return angle.cos(), angle.sin()


def apply_rope(x, cos, sin):
    """x (B, H, T, D): neighbours 2i and 2i + 1 turn together."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv):
        super().__init__()
        self.n_heads, self.n_kv, self.hd = n_heads, n_kv, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.wk = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wv = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wo = nn.Linear(n_heads * self.hd, dim, bias=False)
        self.q_norm, self.k_norm = RMSNorm(self.hd), RMSNorm(self.hd)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_heads, self.hd)
        k = self.wk(x).view(b, t, self.n_kv, self.hd)
        v = self.wv(x).view(b, t, self.n_kv, self.hd)
        q, k = self.q_norm(q).transpose(1, 2), self.k_norm(k).transpose(1, 2)
        q, k, v = apply_rope(q, cos, sin), apply_rope(k, cos, sin), v.transpose(1, 2)
        k = k.repeat_interleave(self.n_heads // self.n_kv, dim=1)
        v = v.repeat_interleave(self.n_heads // self.n_kv, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.hd)
        causal = torch.full((t, t), float("-inf")).triu(1)
        y = (scores + causal).softmax(dim=-1) @ v
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class SwiGLU(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.w1, self.w2, self.w3 = (
            nn.Linear(dim, inner, bias=False),
            nn.Linear(inner, dim, bias=False),
            nn.Linear(dim, inner, bias=False),
        )

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Layer(nn.Module):
    def __init__(self, dim, n_heads, n_kv):
        super().__init__()
        self.attention, self.feed_forward = GQA(dim, n_heads, n_kv), SwiGLU(dim, 2 * dim)
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, cos, sin):
        h = x + self.attention(self.attention_norm(x), cos, sin)
        return h + self.feed_forward(self.ffn_norm(h))


class LM(nn.Module):
    def __init__(self, vocab=61, dim=32, n_heads=4, n_kv=2, n_layers=3, max_len=32):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Layer(dim, n_heads, n_kv) for _ in range(n_layers)])
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.embed_tokens.weight
        cos, sin = rope_table(max_len, dim // n_heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, input_ids):
        t = input_ids.shape[1]
        h = self.embed_tokens(input_ids)
        for layer in self.layers:
            h = layer(h, self.cos[:t], self.sin[:t])
        h = self.norm(h)
        return LMOutput(logits=self.lm_head(h), hidden=h)


def build():
    return {"model": LM(), "batch": torch.randint(61, (3, 12))}
