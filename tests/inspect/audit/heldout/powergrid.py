"""Load of a power grid: nn.Transformer reads a week of hours, its decoder is given what was known up to each hour; batch first, predict() goes on by itself."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class GridTransformer(nn.Module):
    def __init__(self, n_in=4, n_out=1, d_model=32, n_heads=4, layers=2, d_ff=64, dropout=0.1):
        super().__init__()
        self.input_proj = nn.Linear(n_in, d_model)
        self.target_proj = nn.Linear(n_out, d_model)
        self.pos = PositionalEncoding(d_model)
        self.drop = nn.Dropout(dropout)
        self.transformer = nn.Transformer(d_model, n_heads, layers, layers, d_ff, dropout, batch_first=True)
        self.output = nn.Linear(d_model, n_out)
        for p in self.transformer.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, src, tgt):
        tgt_mask = self.transformer.generate_square_subsequent_mask(tgt.size(1))
        src = self.drop(self.pos(self.input_proj(src)))
        tgt = self.drop(self.pos(self.target_proj(tgt)))
        out = self.transformer(src, tgt, tgt_mask=tgt_mask)
        return self.output(out)

    @torch.no_grad()
    def predict(self, src, start, steps):
        tgt = start
        for _ in range(steps):
            tgt = torch.cat([tgt, self(src, tgt)[:, -1:]], dim=1)
        return tgt[:, 1:]


def build():
    week = torch.randn(4, 16, 4)
    load = torch.randn(4, 10, 1).cumsum(dim=1) * 0.5
    tgt_in, tgt_out = load[:, :-1], load[:, 1:]
    model = GridTransformer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    return {"model": model, "batch": (week, tgt_in), "loss": lambda y: F.smooth_l1_loss(y, tgt_out), "optimizer": optimizer}
