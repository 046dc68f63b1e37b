"""A decoder that keeps keys and values in an object: rotary by complex numbers, grouped heads by views, a window of nothing."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Cache:
    def __init__(self):
        self.keys, self.values = {}, {}

    def update(self, layer, k, v):
        if layer in self.keys:
            k = torch.cat([self.keys[layer], k], dim=1)
            v = torch.cat([self.values[layer], v], dim=1)
        self.keys[layer], self.values[layer] = k, v
        return k, v

    def length(self, layer):
        return self.keys[layer].shape[1] if layer in self.keys else 0


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
    t = torch.arange(end).float()
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs = freqs_cis[None, :, None, :]
    xq_out = torch.view_as_real(xq_ * freqs).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class GQA(nn.Module):
    def __init__(self, layer, d, heads, groups):
        super().__init__()
        self.layer, self.heads, self.groups, self.hd = layer, heads, groups, d // heads
        self.wq, self.wk = nn.Linear(d, d, bias=False), nn.Linear(d, groups * self.hd, bias=False)
        self.wv, self.wo = nn.Linear(d, groups * self.hd, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, freqs_cis, past_key_values):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.heads, self.hd)
        k, v = self.wk(x).view(b, t, self.groups, self.hd), self.wv(x).view(b, t, self.groups, self.hd)
        start = past_key_values.length(self.layer) if past_key_values is not None else 0
        q, k = apply_rotary_emb(q, k, freqs_cis[start : start + t])
        if past_key_values is not None:
            k, v = past_key_values.update(self.layer, k, v)
        s = k.shape[1]
        q = q.view(b, t, self.groups, self.heads // self.groups, self.hd)
        scores = torch.einsum("btgrd,bsgd->bgrts", q, k) / self.hd**0.5
        hide = torch.arange(s)[None, :] > torch.arange(start, start + t)[:, None]
        scores = scores.masked_fill(hide, float("-inf"))
        y = torch.einsum("bgrts,bsgd->btgrd", scores.softmax(-1), v)
        return self.wo(y.reshape(b, t, -1))


class Block(nn.Module):
    def __init__(self, layer, d, heads, groups):
        super().__init__()
        self.attention, self.attention_norm, self.ffn_norm = GQA(layer, d, heads, groups), nn.RMSNorm(d), nn.RMSNorm(d)
        self.w1, self.w2, self.w3 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.Linear(d, 2 * d)

    def forward(self, x, freqs_cis, past):
        h = x + self.attention(self.attention_norm(x), freqs_cis, past)
        y = self.ffn_norm(h)
        return h + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, vocab=59, d=32, heads=4, groups=2, depth=2, longest=64):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList([Block(i, d, heads, groups) for i in range(depth)])
        self.norm, self.output = nn.RMSNorm(d), nn.Linear(d, vocab, bias=False)
        self.freqs_cis = precompute_freqs_cis(d // heads, longest)

    def forward(self, input_ids, past_key_values=None):
        past = Cache() if past_key_values is None else past_key_values
        h = self.tok_embeddings(input_ids)
        for layer in self.layers:
            h = layer(h, self.freqs_cis, past)
        return {"logits": self.output(self.norm(h)), "past_key_values": past}


def build():
    return {"model": Llama(), "batch": {"input_ids": torch.randint(59, (4, 13))}}
