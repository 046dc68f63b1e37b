"""A causal language model that gives its loss alone: forward(idx, targets) is what a loop differentiates."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class DecoderBlock(nn.Module):
    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.norm_a = nn.LayerNorm(width)
        self.mha = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.norm_b = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x, hide):
        h = self.norm_a(x)
        a, _ = self.mha(h, h, h, attn_mask=hide, need_weights=False)
        x = x + a
        return x + self.mlp(self.norm_b(x))


class LossLM(nn.Module):
    def __init__(self, vocab=61, width=32, heads=4, depth=3, longest=24):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList([DecoderBlock(width, heads) for _ in range(depth)])
        self.last = nn.LayerNorm(width)
        self.out = nn.Linear(width, vocab, bias=False)

    def forward(self, idx, targets):
        T = idx.size(1)
        x = self.words(idx) + self.places(torch.arange(T))
        hide = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
        for block in self.blocks:
            x = block(x, hide)
        logits = self.out(self.last(x))
        return F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))


def build():
    text = torch.randint(61, (4, 15))
    return {"model": LossLM(), "batch": (text[:, :-1].contiguous(), text[:, 1:].contiguous())}
