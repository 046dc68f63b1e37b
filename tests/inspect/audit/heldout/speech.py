"""A small Conformer over units of speech with lengths: halves, attention, a depthwise convolution; log-probabilities for CTC."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class FeedForwardModule(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.SiLU(), nn.Dropout(0.1), nn.Linear(2 * d, d), nn.Dropout(0.1)
        )

    def forward(self, x):
        return self.net(x)


class ConvolutionModule(nn.Module):
    def __init__(self, d, kernel=5):
        super().__init__()
        self.norm, self.pointwise1 = nn.LayerNorm(d), nn.Conv1d(d, 2 * d, 1)
        self.depthwise = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d)
        self.inner_norm, self.pointwise2 = nn.LayerNorm(d), nn.Conv1d(d, d, 1)

    def forward(self, x, pad):
        x = self.norm(x).transpose(1, 2)
        x = F.glu(self.pointwise1(x), dim=1)
        x = x.masked_fill(pad[:, None, :], 0.0)
        x = self.depthwise(x).transpose(1, 2)
        x = F.silu(self.inner_norm(x)).transpose(1, 2)
        return self.pointwise2(x).transpose(1, 2)


class ConformerBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ff1, self.ff2, self.conv = FeedForwardModule(d), FeedForwardModule(d), ConvolutionModule(d)
        self.attn_norm, self.attn = nn.LayerNorm(d), nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True)
        self.final_norm = nn.LayerNorm(d)

    def forward(self, x, pad):
        x = x + 0.5 * self.ff1(x)
        y = self.attn_norm(x)
        y, _ = self.attn(y, y, y, key_padding_mask=pad, need_weights=False)
        x = x + y
        x = x + self.conv(x, pad)
        x = x + 0.5 * self.ff2(x)
        return self.final_norm(x)


class Conformer(nn.Module):
    def __init__(self, units=22, vocab=29, d=32, heads=4, layers=2):
        super().__init__()
        self.codes, self.places = nn.Embedding(units, d, padding_idx=0), nn.Parameter(0.1 * torch.randn(64, d))
        self.conformer_layers = nn.ModuleList([ConformerBlock(d, heads) for _ in range(layers)])
        self.out = nn.Linear(d, vocab)

    def forward(self, units, lengths):
        pad = torch.arange(units.size(1))[None, :] >= lengths[:, None]
        x = self.codes(units) + self.places[: units.size(1)]
        for block in self.conformer_layers:
            x = block(x, pad)
        return F.log_softmax(self.out(x), dim=-1)


def build():
    lengths = torch.tensor([14, 9, 11, 6])
    units = torch.randint(1, 22, (4, 14)) * (torch.arange(14)[None] < lengths[:, None])
    return {"model": Conformer(), "batch": (units, lengths)}
