"""An encoder with switched experts for sentences: one expert for each token, a mean over real tokens, unit length."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class SwitchFF(nn.Module):
    def __init__(self, d, experts):
        super().__init__()
        self.router = nn.Linear(d, experts)
        self.w_in = nn.Parameter(torch.randn(experts, d, 2 * d) * d**-0.5)
        self.w_out = nn.Parameter(torch.randn(experts, 2 * d, d) * (2 * d) ** -0.5)

    def forward(self, x):
        p = self.router(x).softmax(-1)
        share, which = p.max(-1)
        onehot = F.one_hot(which, p.shape[-1]).to(x.dtype)
        h = torch.einsum("btd,edf,bte->btf", x, self.w_in, onehot).relu()
        return torch.einsum("btf,efd,bte->btd", h, self.w_out, onehot) * share.unsqueeze(-1)


class Layer(nn.Module):
    def __init__(self, d, heads, experts):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True)
        self.n1, self.n2, self.ff = nn.LayerNorm(d), nn.LayerNorm(d), SwitchFF(d, experts)

    def forward(self, x, pad):
        y = self.n1(x)
        x = x + self.attn(y, y, y, key_padding_mask=pad, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=55, d=32, heads=4, depth=2, experts=3):
        super().__init__()
        self.emb, self.pos = nn.Embedding(vocab, d, padding_idx=0), nn.Parameter(0.1 * torch.randn(1, 40, d))
        self.layers = nn.ModuleList([Layer(d, heads, experts) for _ in range(depth)])
        self.ln = nn.LayerNorm(d)

    def forward(self, ids):
        pad = ids == 0
        x = self.emb(ids) + self.pos[:, : ids.shape[1]]
        for layer in self.layers:
            x = layer(x, pad)
        x = self.ln(x).masked_fill(pad.unsqueeze(-1), 0.0)
        x = x.sum(1) / (~pad).sum(1, keepdim=True)
        return F.normalize(x, dim=-1)


def build():
    ids = torch.randint(1, 55, (6, 12))
    ids[0, 8:], ids[3, 10:], ids[4, 5:] = 0, 0, 0
    return {"model": SentenceEncoder(), "batch": (ids,)}
