"""Pictures by patches: a convolution cuts them, a class token, a norm at the end; the answer in a dataclass."""

from dataclasses import dataclass

import badak as torch
from badak import nn


@dataclass
class Answer:
    logits: torch.Tensor
    hidden: torch.Tensor


class Heads(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        B, N, D = x.shape
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (z.reshape(B, N, self.heads, D // self.heads).permute(0, 2, 1, 3) for z in (q, k, v))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * (D // self.heads) ** -0.5
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v).permute(0, 2, 1, 3).reshape(B, N, D)
        return self.to_out(out)


class Encoder(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attn, self.mlp = Heads(d, heads), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        x = self.attn(self.ln1(x)) + x
        return self.mlp(self.ln2(x)) + x


class Picture(nn.Module):
    def __init__(self, d=32, heads=4, depth=2, classes=7, patch=4, side=16):
        super().__init__()
        self.conv = nn.Conv2d(3, d, patch, stride=patch)
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, d))
        self.pos = nn.Parameter(0.2 * torch.randn(1, (side // patch) ** 2 + 1, d))
        self.blocks = nn.ModuleList([Encoder(d, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, pixels):
        x = self.conv(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1)
        x = x + self.pos
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return Answer(self.head(x[:, 0]), x)


def build():
    return {"model": Picture(), "batch": torch.randn(4, 3, 16, 16)}
