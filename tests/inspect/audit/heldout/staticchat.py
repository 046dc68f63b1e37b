"""Chat with memory set aside beforehand: keys and values are written into tensors of the full length, a number says how much is
there; attention and map abreast, a part of each head turned, queries, keys and values from one map."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class Rotary(nn.Module):
    def __init__(self, rotary_dim, longest, base=10000.0):
        super().__init__()
        self.rotary_dim = rotary_dim
        inv = 1.0 / (base ** (torch.arange(0, rotary_dim, 2).float() / rotary_dim))
        freqs = torch.outer(torch.arange(longest).float(), inv)
        self.register_buffer("cos_cached", freqs.cos(), persistent=False)
        self.register_buffer("sin_cached", freqs.sin(), persistent=False)

    def forward(self, x, offset):
        """x (B, T, H, D)"""
        t = x.shape[1]
        cos = self.cos_cached[offset : offset + t, None, :]
        sin = self.sin_cached[offset : offset + t, None, :]
        turned, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        one, two = turned.chunk(2, dim=-1)
        return torch.cat([one * cos - two * sin, one * sin + two * cos, rest], dim=-1)


class StaticAttention(nn.Module):
    def __init__(self, dim, n_head, rotary_dim, longest, p):
        super().__init__()
        self.n_head, self.d = n_head, dim // n_head
        self.Wqkv, self.out_proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.rotary, self.drop = Rotary(rotary_dim, longest), nn.Dropout(p)

    def forward(self, x, store, past):
        b, t, c = x.shape
        qkv = self.Wqkv(x).view(b, t, 3, self.n_head, self.d)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        q, k = self.rotary(q, past), self.rotary(k, past)
        if store is not None:
            store[0][:, past : past + t] = k
            store[1][:, past : past + t] = v
            k, v = store[0][:, : past + t], store[1][:, : past + t]
        att = torch.einsum("bthd,bshd->bhts", q, k) * (1.0 / math.sqrt(self.d))
        i, j = torch.arange(t)[:, None] + past, torch.arange(past + t)[None]
        att = att.masked_fill(j > i, float("-inf"))
        att = self.drop(att.softmax(dim=-1))
        y = torch.einsum("bhts,bshd->bthd", att, v)
        return self.out_proj(y.reshape(b, t, c))


class StaticBlock(nn.Module):
    def __init__(self, dim, n_head, rotary_dim, longest, p):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        self.mixer = StaticAttention(dim, n_head, rotary_dim, longest, p)
        self.fc1, self.fc2, self.resid_drop = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim), nn.Dropout(p)

    def forward(self, x, store, past):
        h = self.ln(x)
        a = self.resid_drop(self.mixer(h, store, past))
        m = self.resid_drop(self.fc2(F.gelu(self.fc1(h))))
        return x + a + m


class StaticChat(nn.Module):
    def __init__(self, vocab=51, dim=32, n_head=4, depth=3, longest=32, p=0.1):
        super().__init__()
        self.longest, self.heads = longest, (n_head, dim // n_head)
        self.wte, self.drop = nn.Embedding(vocab, dim), nn.Dropout(p)
        self.h = nn.ModuleList([StaticBlock(dim, n_head, 4, longest, p) for _ in range(depth)])
        self.ln_f, self.lm_head = nn.LayerNorm(dim), nn.Linear(dim, vocab)

    def set_aside(self, b):
        return [(torch.zeros(b, self.longest, *self.heads), torch.zeros(b, self.longest, *self.heads)) for _ in self.h]

    def forward(self, input_ids, past_key_values=None, use_cache=False):
        past = 0 if past_key_values is None else past_key_values["length"]
        stores = self.set_aside(len(input_ids)) if use_cache and past_key_values is None else None
        stores = stores if past_key_values is None else past_key_values["stores"]
        x = self.drop(self.wte(input_ids))
        for i, block in enumerate(self.h):
            x = block(x, None if stores is None else stores[i], past)
        logits = self.lm_head(self.ln_f(x))
        kept = {"length": past + input_ids.shape[1], "stores": stores} if stores is not None else None
        return {"logits": logits, "past_key_values": kept}


def build():
    return {"model": StaticChat(), "batch": {"input_ids": torch.randint(0, 51, (4, 12))}}
