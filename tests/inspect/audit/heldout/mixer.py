"""MLP-Mixer: patches are mixed by a map over places, then channels; no attention at all."""

import badak as torch
from badak import nn


class MlpBlock(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(size, hidden), nn.GELU(), nn.Linear(hidden, size)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class MixerBlock(nn.Module):
    def __init__(self, places, d):
        super().__init__()
        self.norm1, self.token_mix = nn.LayerNorm(d), MlpBlock(places, 20)
        self.norm2, self.channel_mix = nn.LayerNorm(d), MlpBlock(d, 48)

    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        y = self.token_mix(y).transpose(1, 2)
        x = x + y
        return x + self.channel_mix(self.norm2(x))


class MlpMixer(nn.Module):
    def __init__(self, d=24, patch=4, size=16, depth=3, classes=5):
        super().__init__()
        self.stem = nn.Conv2d(3, d, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock((size // patch) ** 2, d) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        x = self.norm(self.blocks(x))
        return self.head(x.mean(dim=1))


def build():
    return {"model": MlpMixer(), "batch": (torch.randn(5, 3, 16, 16),)}
