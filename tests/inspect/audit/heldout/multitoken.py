"""A language model that foretells the next two tokens: a trunk, a block for each, normalised queries and keys, capped logits."""

from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class Config:
    vocab: int = 48
    width: int = 32
    heads: int = 4
    depth: int = 2
    ahead: int = 2
    longest: int = 32
    cap: float = 15.0


class NormedAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(cfg.width, cfg.width, bias=False) for _ in range(3))
        self.scale = nn.Parameter(torch.full((cfg.heads, 1, 1), 4.0))
        self.slopes = nn.Parameter(torch.linspace(0.05, 0.4, cfg.heads).view(-1, 1, 1))
        self.out = nn.Linear(cfg.width, cfg.width, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        where = torch.arange(t)
        distance = (where[:, None] - where[None, :]).float()
        scores = q @ k.transpose(-2, -1) * self.scale - self.slopes * distance
        scores = scores.masked_fill(distance < 0, float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class TokenBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.pre, self.post = nn.RMSNorm(cfg.width), nn.RMSNorm(cfg.width)
        self.attention = NormedAttention(cfg)
        self.up, self.gate, self.down = (
            nn.Linear(cfg.width, 2 * cfg.width), nn.Linear(cfg.width, 2 * cfg.width), nn.Linear(2 * cfg.width, cfg.width)
        )  # fmt: skip

    def forward(self, x):
        x = x + self.attention(self.pre(x))
        h = self.post(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class MultiToken(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        self.trunk = nn.ModuleList([TokenBlock(cfg) for _ in range(cfg.depth)])
        self.ahead = nn.ModuleList([TokenBlock(cfg) for _ in range(cfg.ahead)])
        self.final = nn.RMSNorm(cfg.width)
        self.unembed = nn.Linear(cfg.width, cfg.vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.trunk:
            x = block(x)
        several = torch.stack([self.final(head(x)) for head in self.ahead], dim=2)
        logits = self.unembed(several)
        return self.cfg.cap * torch.tanh(logits / self.cfg.cap)  # (B, T, ahead, V)


def build():
    cfg = Config()
    return {"model": MultiToken(cfg), "batch": torch.randint(0, cfg.vocab, (4, 14))}
