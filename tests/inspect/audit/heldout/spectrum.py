"""Sounds as pictures: a stem of convolutions, time steps as tokens, sinusoids, an encoder by hand, the mean over time."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def sinusoids(length, width):
    rate = torch.exp(-math.log(10000.0) * torch.arange(width // 2).float() / (width // 2 - 1))
    angle = torch.arange(length).float()[:, None] * rate[None]
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class HeadedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        n, t, w = x.shape
        scale = (w // self.heads) ** -0.25
        q = self.query(x).view(n, t, self.heads, -1).permute(0, 2, 1, 3) * scale
        k = self.key(x).view(n, t, self.heads, -1).permute(0, 2, 3, 1) * scale
        v = self.value(x).view(n, t, self.heads, -1).permute(0, 2, 1, 3)
        weights = F.softmax(q @ k, dim=-1)
        return self.out((weights @ v).permute(0, 2, 1, 3).flatten(start_dim=2))


class ResidualBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn, self.attn_ln, self.mlp_ln = HeadedAttention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width))

    def forward(self, x):
        x = x + self.attn(self.attn_ln(x))
        return x + self.mlp(self.mlp_ln(x))


class SoundClassifier(nn.Module):
    def __init__(self, bands=12, width=32, heads=4, depth=2, classes=6, longest=40):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(bands, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positions", sinusoids(longest, width))
        self.blocks = nn.ModuleList([ResidualBlock(width, heads) for _ in range(depth)])
        self.ln_post, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, mel):
        x = F.gelu(self.conv1(mel.squeeze(1)))
        x = F.gelu(self.conv2(x)).permute(0, 2, 1)
        x = x + self.positions[: x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_post(x).mean(dim=1))


def build():
    labels = torch.randint(6, (4,))
    return {"model": SoundClassifier(), "batch": torch.randn(4, 1, 12, 22), "loss": lambda out: F.cross_entropy(out, labels)}
