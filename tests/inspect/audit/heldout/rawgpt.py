"""A language model of bare parameters: einsum for every map, slopes for distances, attention and gated map abreast, (T, B, C)."""

import math
from types import SimpleNamespace

import badak as torch
from badak import nn


def slopes_of(n):
    return torch.tensor([2 ** (-8 * (i + 1) / n) for i in range(n)])


def normed(x, gain):
    mu = x.mean(dim=-1, keepdim=True)
    var = ((x - mu) ** 2).mean(dim=-1, keepdim=True)
    return (x - mu) / torch.sqrt(var + 1e-5) * gain


class RawBlock(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        k = d // h
        draw = lambda *shape: nn.Parameter(torch.randn(*shape) / math.sqrt(d))
        self.gain = nn.Parameter(torch.ones(d))
        self.wq, self.wk, self.wv = draw(d, h, k), draw(d, h, k), draw(d, h, k)
        self.wo = draw(h, k, d)
        self.w_in, self.w_gate, self.w_out = draw(d, f), draw(d, f), nn.Parameter(torch.randn(f, d) / math.sqrt(f))

    def attend(self, x, bias):
        q = torch.einsum("tbd,dhk->tbhk", x, self.wq)
        k = torch.einsum("sbd,dhk->sbhk", x, self.wk)
        v = torch.einsum("sbd,dhk->sbhk", x, self.wv)
        scores = torch.einsum("tbhk,sbhk->bhts", q, k) / math.sqrt(q.shape[-1])
        attn = torch.softmax(scores + bias, dim=-1)
        mixed = torch.einsum("bhts,sbhk->tbhk", attn, v)
        return torch.einsum("tbhk,hkd->tbd", mixed, self.wo)

    def feed(self, x):
        gate = torch.einsum("tbd,df->tbf", x, self.w_gate)
        up = torch.einsum("tbd,df->tbf", x, self.w_in)
        return torch.einsum("tbf,fd->tbd", torch.sigmoid(gate) * gate * up, self.w_out)

    def forward(self, x, bias):
        y = normed(x, self.gain)
        return x + self.attend(y, bias) + self.feed(y)


class RawGPT(nn.Module):
    def __init__(self, vocab=45, d=32, h=4, f=64, depth=3):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(vocab, d) * 0.05)
        self.blocks = nn.ModuleList([RawBlock(d, h, f) for _ in range(depth)])
        self.gain = nn.Parameter(torch.ones(d))
        self.register_buffer("slopes", slopes_of(h))

    def bias(self, n):
        i = torch.arange(n)
        distance = (i[:, None] - i[None, :]).float()
        bias = -self.slopes[:, None, None] * distance
        return bias.masked_fill(distance < 0, float("-inf"))

    def forward(self, tokens):
        ids = tokens.t()  # (T, B)
        x = nn.functional.embedding(ids, self.embed)
        bias = self.bias(ids.shape[0])
        for block in self.blocks:
            x = block(x, bias)
        x = normed(x, self.gain)
        logits = torch.einsum("tbd,vd->btv", x, self.embed)
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        return SimpleNamespace(loss=loss, logits=logits)


def build():
    return {"model": RawGPT(), "batch": torch.randint(0, 45, (4, 11))}
