"""Forecasts of a series: windows of the past as tokens, causal attention, a dict with mean and deviation."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, h, dropout=0.1, batch_first=True)

    def forward(self, x):
        t = x.size(1)
        mask = torch.triu(torch.full((t, t), float("-inf")), diagonal=1)
        out, _ = self.mha(x, x, x, attn_mask=mask, need_weights=False)
        return out


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.attention, self.norm_a, self.norm_f = CausalSelfAttention(d, h), nn.LayerNorm(d), nn.LayerNorm(d)
        self.fc1, self.fc2, self.drop = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm_a(x)))
        return x + self.drop(self.fc2(F.gelu(self.fc1(self.norm_f(x)))))


class Forecaster(nn.Module):
    def __init__(self, features=4, d=32, h=4, layers=2, longest=48):
        super().__init__()
        self.project = nn.Linear(features, d)
        self.position = nn.Embedding(longest, d)
        self.layers = nn.ModuleList(Layer(d, h) for _ in range(layers))
        self.norm = nn.LayerNorm(d)
        self.mean, self.log_scale = nn.Linear(d, features), nn.Linear(d, features)

    def forward(self, series):
        h = self.project(series)
        h = h + self.position(torch.arange(series.size(1), device=series.device))
        for layer in self.layers:
            h = layer(h)
        h = self.norm(h)
        return {"mean": self.mean(h), "scale": self.log_scale(h).exp()}


def build():
    return {"model": Forecaster(), "batch": torch.randn(5, 18, 4)}
