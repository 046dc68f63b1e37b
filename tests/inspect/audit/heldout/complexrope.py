"""A chat model with places as complex numbers, groups of heads in an einsum, past keys and values in tuples, SwiGLU."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


def freqs_cis(dim, end, theta=500.0):
    freqs = 1.0 / theta ** (torch.arange(0, dim, 2).float() / dim)
    angles = torch.outer(torch.arange(end).float(), freqs)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, cis):
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * cis[None, :, None, :]).flatten(3)


class GQA(nn.Module):
    def __init__(self, d, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, d // heads
        self.wq = nn.Linear(d, d, bias=False)
        self.wkv = nn.Linear(d, 2 * kv_heads * self.size, bias=False)
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x, cis, past):
        b, t, d = x.shape
        q = rotate(self.wq(x).view(b, t, self.heads, self.size), cis)
        k, v = self.wkv(x).view(b, t, 2, self.kv_heads, self.size).unbind(2)
        k = rotate(k, cis)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        s = k.shape[1]
        q = q.view(b, t, self.kv_heads, self.heads // self.kv_heads, self.size)
        att = torch.einsum("btgrd,bsgd->bgrts", q, k) / math.sqrt(self.size)
        hide = torch.ones(t, s, dtype=torch.bool).triu(1 + s - t)
        att = F.softmax(att.masked_fill(hide, float("-inf")), dim=-1)
        y = torch.einsum("bgrts,bsgd->btgrd", att, v).reshape(b, t, d)
        return self.wo(y), (k, v)


class SwiGLU(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(d, hidden), nn.Linear(hidden, d), nn.Linear(d, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Layer(nn.Module):
    def __init__(self, d, heads, kv_heads):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(d), nn.RMSNorm(d)
        self.attention, self.feed_forward = GQA(d, heads, kv_heads), SwiGLU(d, 2 * d)

    def forward(self, x, cis, past):
        h, present = self.attention(self.attention_norm(x), cis, past)
        x = x + h
        return x + self.feed_forward(self.ffn_norm(x)), present


class Chat(nn.Module):
    def __init__(self, vocab=71, d=48, heads=6, kv_heads=2, depth=3, longest=64):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList([Layer(d, heads, kv_heads) for _ in range(depth)])
        self.norm, self.output = nn.RMSNorm(d), nn.Linear(d, vocab, bias=False)
        self.cis = freqs_cis(d // heads, longest)

    def forward(self, tokens, past_key_values=None):
        start = 0 if past_key_values is None else past_key_values[0][0].shape[1]
        x = self.tok_embeddings(tokens)
        cis = self.cis[start : start + tokens.shape[1]]
        presents = []
        for i, layer in enumerate(self.layers):
            x, present = layer(x, cis, None if past_key_values is None else past_key_values[i])
            presents.append(present)
        return self.output(self.norm(x)), presents


def build():
    return {"model": Chat(), "batch": {"tokens": torch.randint(71, (4, 14))}}
