"""Air quality tomorrow: 24 hours of seven measurements and four marks of time, nn.TransformerEncoder, the last hour's state says the next six hours."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


class TokenEmbedding(nn.Module):
    """Each hour with its two neighbours, by a convolution that goes round."""

    def __init__(self, c_in, d_model):
        super().__init__()
        self.tokenConv = nn.Conv1d(c_in, d_model, kernel_size=3, padding=1, padding_mode="circular", bias=False)

    def forward(self, x):
        return self.tokenConv(x.permute(0, 2, 1)).transpose(1, 2)


class PositionalEmbedding(nn.Module):
    def __init__(self, d_model, max_len=200):
        super().__init__()
        pe = torch.zeros(max_len, d_model).float()
        position = torch.arange(0, max_len).float().unsqueeze(1)
        div_term = (torch.arange(0, d_model, 2).float() * -(math.log(10000.0) / d_model)).exp()
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.pe[:, : x.size(1)]


class DataEmbedding(nn.Module):
    def __init__(self, c_in, c_mark, d_model, dropout=0.1):
        super().__init__()
        self.value_embedding = TokenEmbedding(c_in, d_model)
        self.position_embedding = PositionalEmbedding(d_model)
        self.temporal_embedding = nn.Linear(c_mark, d_model, bias=False)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, x_mark):
        x = self.value_embedding(x) + self.temporal_embedding(x_mark) + self.position_embedding(x)
        return self.dropout(x)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        new_x, _ = self.attention(x, x, x, need_weights=False)
        x = x + self.dropout(new_x)
        y = x = self.norm1(x)
        y = self.dropout(F.gelu(self.linear1(y)))
        y = self.dropout(self.linear2(y))
        return self.norm2(x + y)


class Forecaster(nn.Module):
    def __init__(self, c_in=7, c_mark=4, c_out=2, seq_len=24, pred_len=6, d_model=32, n_heads=4, e_layers=2, d_ff=64, dropout=0.1):
        super().__init__()
        self.pred_len, self.c_out = pred_len, c_out
        self.enc_embedding = DataEmbedding(c_in, c_mark, d_model, dropout)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(e_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.flatten = nn.Flatten(start_dim=1)
        self.projection = nn.Linear(d_model * seq_len, pred_len * c_out)

    def forward(self, x_enc, x_mark_enc):
        # Normalization of each series by its own past
        means = x_enc.mean(1, keepdim=True).detach()
        stdev = torch.sqrt(x_enc.var(dim=1, keepdim=True, unbiased=False) + 1e-5).detach()
        x_enc = (x_enc - means) / stdev

        h = self.enc_embedding(x_enc, x_mark_enc)
        for layer in self.encoder:
            h = layer(h)
        h = self.norm(h)
        y = self.projection(self.flatten(h)).view(-1, self.pred_len, self.c_out)
        return y * stdev[:, :, : self.c_out] + means[:, :, : self.c_out]


def build():
    hours = torch.arange(24).float()
    series = torch.randn(5, 24, 7) + torch.sin(hours * 0.3)[None, :, None]
    marks = torch.rand(5, 24, 4) - 0.5
    future = torch.randn(5, 6, 2)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {"model": model, "batch": (series, marks), "loss": lambda y: F.mse_loss(y, future), "optimizer": optimizer}
