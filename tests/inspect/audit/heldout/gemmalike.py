"""A decoder after Gemma and Qwen: norms of queries and keys, halves turned, one head of keys, a window, gates, caps on logits."""

from types import SimpleNamespace

import badak as torch
import badak.nn.functional as F
from badak import nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), eps=1e-6) * (1 + self.scale)


class Rope(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2) / dim), persistent=False)

    def forward(self, x, positions):
        angle = positions[:, None].float() * self.inv_freq[None, :]
        cos, sin = angle.cos(), angle.sin()
        x1, x2 = x[..., ::2], x[..., 1::2]
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)


class MQA(nn.Module):
    def __init__(self, dim, heads, window=None):
        super().__init__()
        self.heads, self.hd, self.window = heads, dim // heads, window
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj, self.v_proj = nn.Linear(dim, self.hd, bias=False), nn.Linear(dim, self.hd, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)
        self.q_norm, self.k_norm, self.rope = Norm(self.hd), Norm(self.hd), Rope(self.hd)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, self.heads, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(B, T, 1, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 1, self.hd).transpose(1, 2)
        q, k = self.q_norm(q), self.k_norm(k)
        pos = torch.arange(T)
        q, k = self.rope(q, pos), self.rope(k, pos)
        scores = (q @ k.transpose(-2, -1)) * self.hd**-0.5
        keep = pos[:, None] >= pos[None, :]
        if self.window is not None:
            keep = keep & (pos[:, None] - pos[None, :] < self.window)
        scores = torch.where(keep, scores, torch.full_like(scores, float("-inf")))
        probs = torch.softmax(scores, -1, dtype=torch.float32).type_as(q)
        y = (probs @ v).transpose(1, 2).reshape(B, T, C)
        return self.o_proj(y)


class GatedMLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (
            nn.Linear(dim, 2 * dim, bias=False),
            nn.Linear(dim, 2 * dim, bias=False),
            nn.Linear(2 * dim, dim, bias=False),
        )

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, window):
        super().__init__()
        self.self_attn, self.mlp = MQA(dim, heads, window), GatedMLP(dim)
        self.pre_attn, self.post_attn, self.pre_mlp, self.post_mlp = Norm(dim), Norm(dim), Norm(dim), Norm(dim)

    def forward(self, x):
        residual = x
        x = self.post_attn(self.self_attn(self.pre_attn(x)))
        x = residual + x
        residual = x
        x = self.post_mlp(self.mlp(self.pre_mlp(x)))
        return residual + x


class LM(nn.Module):
    def __init__(self, vocab=44, dim=32, heads=4, depth=3):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.Sequential(*(DecoderLayer(dim, heads, 6 if i % 2 else None) for i in range(depth)))
        self.norm = Norm(dim)

    def forward(self, input_ids, labels=None):
        h = self.embed(input_ids) * self.dim**0.5
        h = self.norm(self.layers(h))
        logits = 30 * torch.tanh(F.linear(h, self.embed.weight) / 30)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return SimpleNamespace(loss=loss, logits=logits)


def build():
    ids = torch.randint(44, (3, 16))
    return {"model": LM(), "batch": {"input_ids": ids, "labels": ids}}
