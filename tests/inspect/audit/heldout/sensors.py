"""A causal forecaster of several sensors: a mask of -inf added to the scores by the model, one step ahead."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class SinusoidalPE(nn.Module):
    def __init__(self, d_model, max_len=128):
        super().__init__()
        pos, i = torch.arange(max_len).float()[:, None], torch.arange(0, d_model, 2).float()
        angles = pos / torch.pow(torch.tensor(10000.0), i / d_model)
        self.register_buffer("pe", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class CausalBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h, self.dk = heads, d // heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.ln_a, self.ln_b = nn.LayerNorm(d), nn.LayerNorm(d)
        self.fc1, self.fc2, self.drop = nn.Linear(d, 3 * d), nn.Linear(3 * d, d), nn.Dropout(0.1)

    def split(self, x):
        n, t, _ = x.size()
        return x.view(n, t, self.h, self.dk).transpose(1, 2)

    def forward(self, x, mask):
        z = self.ln_a(x)
        Q, K, V = self.split(self.W_q(z)), self.split(self.W_k(z)), self.split(self.W_v(z))
        S = torch.matmul(Q, K.transpose(-1, -2)) / math.sqrt(self.dk)
        S = S + mask
        A = torch.softmax(S, dim=-1)
        ctx = torch.matmul(self.drop(A), V).transpose(1, 2).flatten(2)
        x = x + self.drop(self.W_o(ctx))
        return x + self.drop(self.fc2(F.elu(self.fc1(self.ln_b(x)))))


class SensorForecaster(nn.Module):
    def __init__(self, sensors=6, d=32, heads=4, layers=2):
        super().__init__()
        self.input_proj, self.pos = nn.Linear(sensors, d), SinusoidalPE(d)
        self.blocks = nn.ModuleList(CausalBlock(d, heads) for _ in range(layers))
        self.norm, self.output_proj = nn.LayerNorm(d), nn.Linear(d, sensors)

    def forward(self, series):
        T = series.size(1)
        mask = torch.full((T, T), float("-inf")).triu(diagonal=1)
        x = self.pos(self.input_proj(series))
        for blk in self.blocks:
            x = blk(x, mask)
        return self.output_proj(self.norm(x))


def build():
    series = torch.randn(4, 16, 6).cumsum(1) * 0.4
    target = series[:, 1:]
    return {"model": SensorForecaster(), "batch": series, "loss": lambda out: F.mse_loss(out[:, :-1], target)}
