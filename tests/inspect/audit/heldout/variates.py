"""Forecasts after iTransformer: each sensor's whole past is one token, sensors attend to each other, normalised and put back."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class EncoderLayer(nn.Module):
    def __init__(self, d, heads, p=0.1):
        super().__init__()
        self.heads = heads
        self.query_projection, self.key_projection, self.value_projection = (nn.Linear(d, d) for _ in range(3))
        self.out_projection = nn.Linear(d, d)
        self.conv1, self.conv2 = nn.Conv1d(d, 2 * d, 1), nn.Conv1d(2 * d, d, 1)
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(d), nn.LayerNorm(d), nn.Dropout(p)

    def attend(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1) for f in (self.query_projection, self.key_projection, self.value_projection))
        scores = torch.einsum("blhe,bshe->bhls", q, k)
        a = self.dropout(torch.softmax((d // self.heads) ** -0.5 * scores, dim=-1))
        return self.out_projection(torch.einsum("bhls,bshd->blhd", a, v).reshape(b, n, d))

    def forward(self, x):
        x = self.norm1(x + self.dropout(self.attend(x)))
        y = self.dropout(F.relu(self.conv1(x.transpose(-1, 1))))
        y = self.dropout(self.conv2(y).transpose(-1, 1))
        return self.norm2(x + y)


class ITransformer(nn.Module):
    def __init__(self, seq_len=24, pred_len=6, d=32, heads=4, layers=2):
        super().__init__()
        self.value_embedding = nn.Linear(seq_len, d)
        self.attn_layers = nn.ModuleList([EncoderLayer(d, heads) for _ in range(layers)])
        self.norm, self.projector = nn.LayerNorm(d), nn.Linear(d, pred_len)

    def forward(self, x_enc):
        means = x_enc.mean(1, keepdim=True).detach()
        x_enc = x_enc - means
        stdev = torch.sqrt(torch.var(x_enc, dim=1, keepdim=True, unbiased=False) + 1e-5).detach()
        x_enc = x_enc / stdev
        tokens = self.value_embedding(x_enc.permute(0, 2, 1))
        for layer in self.attn_layers:
            tokens = layer(tokens)
        dec_out = self.projector(self.norm(tokens)).permute(0, 2, 1)
        return dec_out * stdev + means


def build():
    return {"model": ITransformer(), "batch": (torch.randn(5, 24, 7),)}
