"""Speech to letters: log-mel frames with lengths, two strided convolutions, sines, nn.TransformerEncoder with key padding, CTC."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class ConvSubsampler(nn.Module):
    def __init__(self, n_mels, dim):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, dim, 3, stride=2, padding=1)
        self.conv2 = nn.Conv1d(dim, dim, 3, stride=2, padding=1)

    def forward(self, x, lengths):
        # x (B, T, F): what is behind the end of a row stays zero
        for conv in (self.conv1, self.conv2):
            keep = torch.arange(x.size(1))[None, :] < lengths[:, None]
            x = x * keep.unsqueeze(-1)
            x = F.gelu(conv(x.transpose(1, 2))).transpose(1, 2)
            lengths = (lengths - 1) // 2 + 1
        return x, lengths


class SinusoidalPositions(nn.Module):
    def __init__(self, dim, max_len=256):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(1, max_len, dim)
        table[0, :, 0::2] = torch.sin(position * div)
        table[0, :, 1::2] = torch.cos(position * div)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class SpeechEncoder(nn.Module):
    def __init__(self, n_mels=20, dim=32, heads=4, layers=2, vocab=29, dropout=0.1):
        super().__init__()
        self.subsample = ConvSubsampler(n_mels, dim)
        self.positions = SinusoidalPositions(dim)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            [
                nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout, activation="gelu", batch_first=True, norm_first=True)
                for _ in range(layers)
            ]
        )
        self.norm = nn.LayerNorm(dim)
        self.ctc = nn.Linear(dim, vocab)

    def forward(self, feats, feat_lengths):
        x, lengths = self.subsample(feats, feat_lengths)
        x = self.dropout(self.positions(x))
        pad_mask = torch.arange(x.size(1))[None, :] >= lengths[:, None]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=pad_mask)
        log_probs = self.ctc(self.norm(x)).log_softmax(dim=-1)
        return log_probs, lengths


def build():
    feat_lengths = torch.tensor([44, 31, 38, 27])
    feats = torch.randn(4, 44, 20) * (torch.arange(44)[None, :] < feat_lengths[:, None]).unsqueeze(-1)
    targets = torch.randint(1, 29, (4, 5))
    target_lengths = torch.tensor([5, 3, 4, 2])
    model = SpeechEncoder()
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)

    def loss(out):
        log_probs, lengths = out
        return criterion(log_probs.transpose(0, 1), targets, lengths, target_lengths)

    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    return {"model": model, "batch": (feats, feat_lengths), "loss": loss, "optimizer": optimizer}
