"""Sounds as tokens by dilated causal convolutions: gates, residual and skip sums, no attention; outputs in a dataclass."""

from dataclasses import dataclass

import badak as torch
from badak import nn


@dataclass
class WaveOutput:
    logits: torch.Tensor
    skips: torch.Tensor


class CausalConv(nn.Module):
    def __init__(self, channels, out, kernel, dilation):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(channels, out, kernel, dilation=dilation)

    def forward(self, x):
        return self.conv(nn.functional.pad(x, (self.pad, 0)))


class GatedBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.filter, self.gate = CausalConv(channels, channels, 2, dilation), CausalConv(channels, channels, 2, dilation)
        self.residual, self.skip = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        z = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        return x + self.residual(z), self.skip(z)


class WaveNet(nn.Module):
    def __init__(self, levels=64, channels=24, depth=4):
        super().__init__()
        self.embed = nn.Embedding(levels, channels)
        self.blocks = nn.ModuleList(GatedBlock(channels, 2**i) for i in range(depth))
        self.post_1, self.post_2 = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, levels, 1)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        total = 0
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        logits = self.post_2(torch.relu(self.post_1(torch.relu(total + x))))
        return WaveOutput(logits.transpose(1, 2), total)


def build():
    return {"model": WaveNet(), "batch": torch.randint(64, (3, 20)), "kind": "causal"}
