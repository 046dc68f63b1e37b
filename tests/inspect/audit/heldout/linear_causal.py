"""A language model with causal linear attention: feature maps, sums kept from token to token by cumsum, no softmax."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def phi(x):
    return F.elu(x) + 1.0


class CausalLinearAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (f(x).view(b, n, self.heads, c // self.heads) for f in (self.q_proj, self.k_proj, self.v_proj))
        q, k = phi(q), phi(k)
        kv = torch.einsum("bnhd,bnhe->bnhde", k, v).cumsum(dim=1)
        z = 1.0 / (torch.einsum("bnhd,bnhd->bnh", q, k.cumsum(dim=1)) + 1e-6)
        out = torch.einsum("bnhd,bnhde,bnh->bnhe", q, kv, z)
        return self.out_proj(out.reshape(b, n, c))


class Layer(nn.Module):
    def __init__(self, dim, heads, drop=0.1):
        super().__init__()
        self.attn = CausalLinearAttention(dim, heads)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(drop))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LinearLM(nn.Module):
    def __init__(self, vocab=61, dim=32, heads=4, depth=3, longest=32):
        super().__init__()
        self.embed, self.position = nn.Embedding(vocab, dim), nn.Embedding(longest, dim)
        self.stack = nn.Sequential(*[Layer(dim, heads) for _ in range(depth)])
        self.norm, self.to_logits = nn.LayerNorm(dim), nn.Linear(dim, vocab)

    def forward(self, tokens):
        h = self.embed(tokens) + self.position(torch.arange(tokens.size(1)))
        h = self.stack(h)
        return self.to_logits(self.norm(h))


def build():
    tokens = torch.randint(61, (4, 17))
    model = LinearLM()
    return {
        "model": model,
        "batch": (tokens[:, :-1],),
        "loss": lambda out: F.cross_entropy(out.flatten(0, 1), tokens[:, 1:].flatten()),
        "kind": "causal",
    }
