"""A language model without attention, as Hyena: long filters made by a small net, multiplied in the frequencies, and gates."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


def fft_conv(u, k, skip):
    n = u.shape[-1]
    size = 2 * n
    k_f = torch.fft.rfft(k, n=size) / size
    u_f = torch.fft.rfft(u, n=size)
    y = torch.fft.irfft(u_f * k_f, n=size, norm="forward")[..., :n]
    return y + u * skip[:, None]


class Filter(nn.Module):
    def __init__(self, d, order=16, bands=4, most=64):
        super().__init__()
        t = torch.linspace(0, 1, most)[:, None]
        w = 2 * math.pi * torch.arange(most).float()[:, None] / most
        f = torch.linspace(1e-4, bands - 1, bands)[None]
        self.register_buffer("z", torch.cat([t, torch.cos(f * w), -torch.sin(f * w)], dim=-1))
        self.register_buffer("t", t)
        self.net = nn.Sequential(
            nn.Linear(1 + 2 * bands, order), nn.SiLU(), nn.Linear(order, order), nn.SiLU(), nn.Linear(order, d)
        )
        self.rates = nn.Parameter(torch.linspace(1.0, 6.0, d))
        self.skip = nn.Parameter(torch.randn(d))

    def forward(self, n):
        h = self.net(self.z[:n]) * torch.exp(-self.t[:n] * self.rates.abs())
        return h.transpose(0, 1)


class HyenaOperator(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.in_proj = nn.Linear(d, 3 * d)
        self.short = nn.Conv1d(3 * d, 3 * d, 3, padding=2, groups=3 * d)
        self.filter = Filter(d)
        self.out_proj = nn.Linear(d, d)

    def forward(self, u):
        n = u.size(1)
        u = self.in_proj(u).transpose(1, 2)
        u = self.short(u)[..., :n]
        x0, x1, v = u.chunk(3, dim=1)
        v = fft_conv(v * x1, self.filter(n), self.filter.skip)
        y = (v * x0).transpose(1, 2)
        return self.out_proj(y)


class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mixer, self.mlp = HyenaOperator(d), Mlp(d)

    def forward(self, x):
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class HyenaLM(nn.Module):
    def __init__(self, vocab=59, d=32, depth=3):
        super().__init__()
        self.wte = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.ln_f = nn.LayerNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        x = self.wte(idx)
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss


def build():
    text = torch.randint(59, (4, 17))
    return {"model": HyenaLM(), "batch": {"idx": text[:, :-1], "targets": text[:, 1:]}}
