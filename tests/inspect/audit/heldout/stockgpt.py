"""Decoder-only forecasting: every step says mean and spread of the next one, learned positions, causal nn.MultiheadAttention."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_head, dropout):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, n_head, dropout=dropout, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        causal = torch.triu(torch.full((T, T), float("-inf")), diagonal=1)
        y, _ = self.mha(x, x, x, attn_mask=causal, need_weights=False)
        return y


class Block(nn.Module):
    def __init__(self, d_model, n_head, dropout):
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_head, dropout)
        self.ln2 = nn.LayerNorm(d_model)
        self.fc = nn.Linear(d_model, 4 * d_model)
        self.proj = nn.Linear(4 * d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        x = x + self.drop(self.proj(F.gelu(self.fc(self.ln2(x)))))
        return x


class StockGPT(nn.Module):
    def __init__(self, n_features=4, d_model=32, n_head=4, n_layer=2, block_size=64, dropout=0.1):
        super().__init__()
        self.block_size = block_size
        self.embed = nn.Linear(n_features, d_model)
        self.wpe = nn.Embedding(block_size, d_model)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList([Block(d_model, n_head, dropout) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, 2 * n_features)

    def forward(self, x):
        B, T, _ = x.shape
        pos = torch.arange(0, T, dtype=torch.long)
        h = self.drop(self.embed(x) + self.wpe(pos))
        for block in self.h:
            h = block(h)
        mu, log_var = self.head(self.ln_f(h)).chunk(2, dim=-1)
        return mu, log_var


def gaussian_nll(mu, log_var, target):
    return 0.5 * (log_var + (target - mu) ** 2 / log_var.exp() + math.log(2 * math.pi)).mean()


def build():
    returns = torch.randn(5, 21, 4) * 0.02
    x, y = returns[:, :-1], returns[:, 1:]
    model = StockGPT()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    return {
        "model": model,
        "batch": (x,),
        "loss": lambda out: F.mse_loss(out[0], y) + gaussian_nll(*out, y),
        "optimizer": optimizer,
    }
