"""A text in chunks: a damped moving average of several speeds per channel goes before one head of gated attention, queries
and keys from one shared map with scales of their own; (T, B, C) throughout, as its authors like it."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class MultiHeadEMA(nn.Module):
    def __init__(self, dim, ndim=2):
        super().__init__()
        self.delta, self.alpha = nn.Parameter(torch.randn(dim, ndim) * 0.2), nn.Parameter(torch.randn(dim, ndim) * 0.2)
        self.beta, self.gamma = nn.Parameter(torch.randn(dim, ndim)), nn.Parameter(torch.randn(dim, ndim))
        self.omega = nn.Parameter(torch.randn(dim))

    def kernel(self, length):
        p, a = torch.sigmoid(self.delta), torch.sigmoid(self.alpha)
        q = 1.0 - p * a
        powers = q.unsqueeze(-1) ** torch.arange(length).float()
        return ((p * self.beta * self.gamma).unsqueeze(-1) * powers).sum(dim=1)

    def forward(self, x):
        T, B, C = x.shape
        residual = x * self.omega
        k = self.kernel(T).flip(-1).unsqueeze(1)
        y = F.conv1d(F.pad(x.permute(1, 2, 0), (T - 1, 0)), k, groups=C)
        return F.silu(y.permute(2, 0, 1) + residual)


class MovingAverageGatedAttention(nn.Module):
    def __init__(self, dim, zdim, hdim, max_len=64):
        super().__init__()
        self.dim, self.zdim, self.hdim = dim, zdim, hdim
        self.move = MultiHeadEMA(dim)
        self.v_proj = nn.Linear(dim, hdim)
        self.mx_proj = nn.Linear(dim, zdim + hdim + 2 * dim)
        self.h_proj = nn.Linear(hdim, dim)
        self.gamma, self.beta = nn.Parameter(torch.randn(2, zdim) * 0.5), nn.Parameter(torch.randn(2, zdim) * 0.1)
        self.rel_bias = nn.Parameter(torch.randn(max_len) * 0.1)
        self.norm, self.dropout = nn.LayerNorm(dim), nn.Dropout(0.1)

    def bias(self, n):
        at = torch.arange(n)
        return self.rel_bias[(at[:, None] - at[None, :]).clamp(min=0)]

    def forward(self, x):
        residual = x
        x = self.norm(x)
        v = F.silu(self.v_proj(x))
        mx = self.dropout(self.move(x))
        base = self.mx_proj(mx)
        u, zr, hx = torch.split(base, [self.dim, self.zdim + self.hdim, self.dim], dim=-1)
        u = torch.sigmoid(u)
        z, r = torch.split(F.silu(zr), [self.zdim, self.hdim], dim=-1)
        z = z.unsqueeze(2) * self.gamma + self.beta
        q, k = torch.unbind(z, dim=2)
        q, k, v = q.transpose(0, 1) * self.zdim**-0.5, k.transpose(0, 1), v.transpose(0, 1)
        n = q.shape[1]
        scores = torch.bmm(q, k.transpose(1, 2)) + self.bias(n)
        scores = scores + torch.full((n, n), float("-inf")).triu(1)
        attn = self.dropout(F.softmax(scores, dim=-1))
        h = torch.bmm(attn, v).transpose(0, 1)
        h = torch.tanh(hx + self.h_proj(h * r))
        return residual + u * (h - residual)


class NormalizedFFN(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm, self.fc1, self.fc2 = nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.dropout(self.fc2(self.dropout(F.silu(self.fc1(self.norm(x))))))


class MegaLM(nn.Module):
    def __init__(self, words=57, dim=32, zdim=16, hdim=48, depth=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, dim)
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(
                nn.ModuleDict({"mega": MovingAverageGatedAttention(dim, zdim, hdim), "nffn": NormalizedFFN(dim, 64)})
            )
        self.final_norm, self.output = nn.LayerNorm(dim), nn.Linear(dim, words)

    def forward(self, src, target=None):
        x = self.embed_tokens(src).transpose(0, 1)
        for layer in self.layers:
            x = layer["mega"](x)
            x = layer["nffn"](x)
        x = self.output(self.final_norm(x)).transpose(0, 1)
        if target is None:
            return x
        return x, F.cross_entropy(x.reshape(-1, x.shape[-1]), target.reshape(-1))


def build():
    text = torch.randint(0, 57, (3, 14))
    return {"model": MegaLM(), "batch": (text[:, :-1], text[:, 1:])}
