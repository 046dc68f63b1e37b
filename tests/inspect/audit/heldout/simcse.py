"""Vectors of sentences: each one and its paraphrase, the others of the batch are wrong answers (InfoNCE), mean of the words, a temperature."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dk = hidden // heads
        self.in_proj = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        B, L, D = x.size()
        qkv = self.in_proj(x).reshape(B, L, 3, self.heads, self.dk).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = (q / math.sqrt(self.dk)) @ k.transpose(-2, -1)
        scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        probs = self.drop(scores.softmax(dim=-1))
        return self.out((probs @ v).permute(0, 2, 1, 3).reshape(B, L, D))


class EncoderBlock(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.attention = SelfAttention(hidden, heads, dropout)
        self.norm_a = nn.LayerNorm(hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, 2 * hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * hidden, hidden))
        self.norm_b = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.norm_a(x + self.drop(self.attention(x, mask)))
        x = self.norm_b(x + self.drop(self.mlp(x)))
        return x


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=120, hidden=36, heads=3, layers=2, max_len=32, dropout=0.1, out=24):
        super().__init__()
        self.words = nn.Embedding(vocab, hidden, padding_idx=0)
        self.places = nn.Embedding(max_len, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([EncoderBlock(hidden, heads, dropout) for _ in range(layers)])
        self.project = nn.Linear(hidden, out)

    def forward(self, ids, mask):
        pos = torch.arange(ids.size(1)).expand_as(ids)
        x = self.drop(self.norm(self.words(ids) + self.places(pos)))
        for block in self.blocks:
            x = block(x, mask)
        m = mask.unsqueeze(-1).float()
        pooled = (x * m).sum(dim=1) / m.sum(dim=1).clamp(min=1e-9)
        return F.normalize(self.project(pooled), dim=-1)


class DualModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = SentenceEncoder()
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, a_ids, b_ids):
        za = self.encoder(a_ids, a_ids != 0)
        zb = self.encoder(b_ids, b_ids != 0)
        return self.logit_scale.exp() * za @ zb.t()


def pad(rows):
    n = max(len(r) for r in rows)
    return torch.stack([F.pad(r, (0, n - len(r))) for r in rows])


def build():
    draw = lambda n: torch.randint(1, 120, (n,))
    first, second = pad([draw(n) for n in (9, 6, 8, 5, 7)]), pad([draw(n) for n in (7, 10, 6, 8, 5)])
    model = DualModel()
    target = torch.arange(5)

    def loss(sim):
        return (F.cross_entropy(sim, target) + F.cross_entropy(sim.t(), target)) / 2

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    return {"model": model, "batch": (first, second), "loss": loss, "optimizer": optimizer}
