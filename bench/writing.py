"""A GPT that writes with a cache of keys and values, as a user of PyTorch writes it. With badak, `import torch` gives badak.

`write` gives the model the prompt at once and then one token after the other; attention sees the part of the cache that is
filled. `FullCacheAttention` has fixed shapes instead, for torch.compile: it looks at the whole cache through a mask.
"""

import torch
from torch import nn
from torch.nn import functional as F

from bench.models import tanh_gelu
from bench.workloads import Workload


class CachedAttention(nn.Module):
    """Causal attention of one sequence that remembers keys and values; `start` tokens went before x."""

    def __init__(self, d, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.register_buffer("keys", torch.zeros(1, heads, length, d // heads), persistent=False)
        self.register_buffer("values", torch.zeros(1, heads, length, d // heads), persistent=False)

    def forward(self, x, start):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)  # (B, H, T, D)
        self.keys[:, :, start : start + T] = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        self.values[:, :, start : start + T] = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        seen = start + T
        y = F.scaled_dot_product_attention(q, self.keys[:, :, :seen], self.values[:, :, :seen], is_causal=T > 1)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class FullCacheAttention(CachedAttention):
    """The same with `start` a tensor and every shape fixed."""

    def forward(self, x, start):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        places = start + torch.arange(T)
        self.keys.index_copy_(2, places, k.view(B, T, self.heads, C // self.heads).transpose(1, 2))
        self.values.index_copy_(2, places, v.view(B, T, self.heads, C // self.heads).transpose(1, 2))
        keep = torch.arange(self.keys.size(2)) <= places[:, None]  # (T, S)
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=keep)
        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, d, hidden, attention):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attention = attention
        self.norm2 = nn.LayerNorm(d)
        self.up = nn.Linear(d, hidden)
        self.down = nn.Linear(hidden, d)

    def forward(self, x, start):
        x = x + self.attention(self.norm1(x), start)
        return x + self.down(tanh_gelu(self.up(self.norm2(x))))


class Writer(nn.Module):
    """Tokens (1, T) that come after `start` others -> logits of the next one (1, V)."""

    def __init__(self, work: Workload, attention=CachedAttention):
        super().__init__()
        d = work.d
        self.token = nn.Embedding(work.vocab, d)
        self.position = nn.Embedding(work.positions, d)
        blocks = [Block(d, work.hidden, attention(d, work.heads, work.T)) for _ in range(work.layers)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, work.vocab, bias=False)
        self.head.weight = self.token.weight

    def forward(self, x, start):
        h = self.token(x) + self.position(start + torch.arange(x.size(1)))
        for block in self.blocks:
            h = block(h, start)
        return self.head(self.norm(h[:, -1]))


class TransposedLinear(nn.Module):
    """x W + b with W stored (in, out): PyTorch's product of one row with a matrix is about twice as fast that way."""

    def __init__(self, linear):
        super().__init__()
        self.weight = linear.weight.detach().t().contiguous()
        self.bias = linear.bias

    def forward(self, x):
        if self.bias is None:
            return x @ self.weight
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.size()[:-1], -1)


def transpose_linears(model) -> None:
    """Replace every Linear in place; the model can no longer be trained."""
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, TransposedLinear(child))
        else:
            transpose_linears(child)


def write(model, prompt, count: int):
    """The `count` most likely tokens after `prompt` (1, T), one after the other -> (count,)."""
    x, start, written = prompt, 0, []
    for _ in range(count):
        logits = model(x, start)
        start += x.size(1)
        x = logits.argmax(dim=-1, keepdim=True)
        written.append(x)
    return torch.cat(written, dim=1)[0]
