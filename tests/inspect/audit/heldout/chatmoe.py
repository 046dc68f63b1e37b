"""Chat: grouped queries with normalised heads, halves turned by tables that are counted from what the cache has, experts that two
of four answer each token; the head is the table."""

from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class MoEArgs:
    n_vocab: int = 53
    dim: int = 32
    n_layers: int = 3
    n_heads: int = 4
    n_kv_heads: int = 2
    n_experts: int = 4
    top_k: int = 2
    hidden: int = 48
    max_len: int = 64
    theta: float = 10000.0


class RMS(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rope_tables(args):
    d = args.dim // args.n_heads
    freqs = 1.0 / args.theta ** (torch.arange(0, d, 2).float() / d)
    angles = torch.outer(torch.arange(args.max_len).float(), freqs)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat([-x2, x1], dim=-1)


def apply_rope(x, cos, sin):
    return x * cos + rotate_half(x) * sin


class GroupedAttention(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.h, self.g, self.d = args.n_heads, args.n_kv_heads, args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, self.h * self.d, bias=False)
        self.wk = nn.Linear(args.dim, self.g * self.d, bias=False)
        self.wv = nn.Linear(args.dim, self.g * self.d, bias=False)
        self.wo = nn.Linear(self.h * self.d, args.dim, bias=False)
        self.q_norm, self.k_norm = RMS(self.d), RMS(self.d)

    def forward(self, x, cos, sin, past=None):
        B, T, _ = x.shape
        q = self.q_norm(self.wq(x).view(B, T, self.h, self.d)).transpose(1, 2)
        k = self.k_norm(self.wk(x).view(B, T, self.g, self.d)).transpose(1, 2)
        v = self.wv(x).view(B, T, self.g, self.d).transpose(1, 2)
        q, k = apply_rope(q, cos, sin), apply_rope(k, cos, sin)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        present = (k, v)
        rep = self.h // self.g
        k, v = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
        S = k.shape[2]
        allowed = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        att = (q @ k.transpose(2, 3)) / self.d**0.5
        att = att.masked_fill(~allowed, float("-inf"))
        att = torch.softmax(att.float(), dim=-1).type_as(q)
        out = (att @ v).transpose(1, 2).contiguous().view(B, T, -1)
        return self.wo(out), present


class Expert(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.w1 = nn.Linear(args.dim, args.hidden, bias=False)
        self.w2 = nn.Linear(args.hidden, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, args.hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.top_k = args.top_k
        self.gate = nn.Linear(args.dim, args.n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(args) for _ in range(args.n_experts)])

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        probs = F.softmax(self.gate(flat), dim=-1)
        weights, chosen = torch.topk(probs, self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(dim=-1, keepdim=True)
            out = out + share * expert(flat)
        return out.view_as(x)


class Layer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention_norm, self.ffn_norm = RMS(args.dim), RMS(args.dim)
        self.attention, self.moe = GroupedAttention(args), SparseMoE(args)

    def forward(self, x, cos, sin, past=None):
        h, present = self.attention(self.attention_norm(x), cos, sin, past)
        x = x + h
        x = x + self.moe(self.ffn_norm(x))
        return x, present


class ChatMoE(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tok_embeddings = nn.Embedding(args.n_vocab, args.dim)
        self.layers = nn.ModuleList([Layer(args) for _ in range(args.n_layers)])
        self.norm = RMS(args.dim)
        self.output = nn.Linear(args.dim, args.n_vocab, bias=False)
        self.output.weight = self.tok_embeddings.weight
        cos, sin = rope_tables(args)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens, kv_cache=None, targets=None):
        start = 0 if kv_cache is None else kv_cache[0][0].shape[2]
        T = tokens.shape[1]
        cos, sin = self.cos[start : start + T], self.sin[start : start + T]
        h = self.tok_embeddings(tokens)
        presents = []
        for i, layer in enumerate(self.layers):
            h, present = layer(h, cos, sin, None if kv_cache is None else kv_cache[i])
            presents.append(present)
        logits = self.output(self.norm(h))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss, presents


def build():
    return {"model": ChatMoE(MoEArgs()), "batch": (torch.randint(0, 53, (4, 12)),)}
