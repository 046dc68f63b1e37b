"""A decoder after DeepSeek: keys and values through a narrow latent, a turned part for all heads, a shared expert."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def rotate(x, freqs):
    a, b = x.chunk(2, dim=-1)
    cos, sin = freqs.cos(), freqs.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class MLA(nn.Module):
    def __init__(self, dim, n_heads, latent, nope, rope, v_dim):
        super().__init__()
        self.n_heads, self.nope, self.rope_dim, self.v_dim, self.latent = n_heads, nope, rope, v_dim, latent
        self.wq = nn.Linear(dim, n_heads * (nope + rope), bias=False)
        self.wkv_a = nn.Linear(dim, latent + rope, bias=False)
        self.kv_norm = nn.RMSNorm(latent)
        self.wkv_b = nn.Linear(latent, n_heads * (nope + v_dim), bias=False)
        self.wo = nn.Linear(n_heads * v_dim, dim, bias=False)

    def forward(self, x, freqs, mask):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_heads, -1)
        q_nope, q_pe = q.split([self.nope, self.rope_dim], dim=-1)
        q_pe = rotate(q_pe, freqs[:, None, :])
        kv, k_pe = self.wkv_a(x).split([self.latent, self.rope_dim], dim=-1)
        k_pe = rotate(k_pe, freqs)
        kv = self.wkv_b(self.kv_norm(kv)).view(b, t, self.n_heads, -1)
        k_nope, v = kv.split([self.nope, self.v_dim], dim=-1)
        scores = torch.einsum("bthd,bshd->bhts", q_nope, k_nope) + torch.einsum("bthd,bsd->bhts", q_pe, k_pe)
        scores = scores * (self.nope + self.rope_dim) ** -0.5 + mask
        y = torch.einsum("bhts,bshd->bthd", scores.softmax(dim=-1), v)
        return self.wo(y.flatten(2))


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(dim, hidden), nn.Linear(hidden, dim), nn.Linear(dim, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, dim, n_experts=4, top=2):
        super().__init__()
        self.gate, self.top = nn.Linear(dim, n_experts, bias=False), top
        self.experts = nn.ModuleList([Expert(dim, dim) for _ in range(n_experts)])
        self.shared_experts = Expert(dim, dim)

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        scores = self.gate(x).softmax(dim=-1)
        weights, chosen = scores.topk(self.top, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, nth = torch.where(chosen == i)
            y = y.index_add(0, rows, expert(x[rows]) * weights[rows, nth, None])
        return (y + self.shared_experts(x)).view(shape)


class Block(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.attn, self.ffn = MLA(dim, n_heads, 16, 8, 4, 8), MoE(dim)
        self.attn_norm, self.ffn_norm = nn.RMSNorm(dim), nn.RMSNorm(dim)

    def forward(self, x, freqs, mask):
        x = x + self.attn(self.attn_norm(x), freqs, mask)
        return x + self.ffn(self.ffn_norm(x))


class DeepSeekLike(nn.Module):
    def __init__(self, vocab=66, dim=32, n_heads=4, n_layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Block(dim, n_heads) for _ in range(n_layers)])
        self.norm, self.head = nn.RMSNorm(dim), nn.Linear(dim, vocab, bias=False)
        self.register_buffer("inv", 1.0 / 10000.0 ** (torch.arange(0, 4, 2).float() / 4), persistent=False)

    def forward(self, tokens, targets=None):
        t = tokens.size(1)
        freqs = torch.outer(torch.arange(t).float(), self.inv)
        mask = torch.full((t, t), float("-inf")).triu(1)
        h = self.embed(tokens)
        for layer in self.layers:
            h = layer(h, freqs, mask)
        logits = self.head(self.norm(h))
        if targets is not None:
            return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, None


def build():
    text = torch.randint(66, (4, 15))
    return {"model": DeepSeekLike(), "batch": (text[:, :-1], text[:, 1:].contiguous())}
