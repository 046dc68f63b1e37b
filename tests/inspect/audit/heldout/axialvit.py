"""Pictures to classes: own helpers for axes, rows and columns turn half of each head, registers behind the patches, a class by the
mean of the patches, the features and the attention's answer in one object."""

from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class Seen:
    scores: torch.Tensor
    patches: torch.Tensor


def to_patches(x, p):
    b, c, h, w = x.shape
    x = x.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
    return x.reshape(b, (h // p) * (w // p), c * p * p)


def split_heads(x, heads):
    b, n, c = x.shape
    return x.reshape(b, n, heads, c // heads).transpose(1, 2)


def join_heads(x):
    b, h, n, d = x.shape
    return x.transpose(1, 2).reshape(b, n, h * d)


def axial_angles(side, dim, theta=100.0):
    rates = theta ** -(torch.arange(0, dim // 2, 2).float() / (dim // 2))
    at = torch.arange(side).float()
    rows = (at[:, None] * rates)[:, None].expand(side, side, -1)
    columns = (at[:, None] * rates)[None].expand(side, side, -1)
    return torch.cat([rows, columns], dim=-1).reshape(side * side, -1)


def turn(x, angles):
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class AxialAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)
        self.q_norm, self.k_norm = nn.LayerNorm(dim // heads), nn.LayerNorm(dim // heads)

    def forward(self, x, angles):
        q, k, v = (split_heads(part, self.heads) for part in self.to_qkv(x).chunk(3, dim=-1))
        q, k = self.q_norm(q), self.k_norm(k)
        n = angles.shape[0]
        q = torch.cat([turn(q[:, :, :n], angles), q[:, :, n:]], dim=2)
        k = torch.cat([turn(k[:, :, :n], angles), k[:, :, n:]], dim=2)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(join_heads(out))


class SwiGLU(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.w12, self.w3 = nn.Linear(dim, 2 * inner), nn.Linear(inner, dim)

    def forward(self, x):
        gate, value = self.w12(x).chunk(2, dim=-1)
        return self.w3(F.silu(gate) * value)


class AxialBlock(nn.Module):
    def __init__(self, dim, heads, drop_path):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(dim), AxialAttention(dim, heads)
        self.norm2, self.mlp = nn.LayerNorm(dim), SwiGLU(dim, 2 * dim)
        self.drop_path = drop_path

    def maybe(self, x):
        if not self.training or self.drop_path == 0:
            return x
        keep = (torch.rand(x.shape[0], 1, 1) >= self.drop_path).float()
        return x * keep / (1 - self.drop_path)

    def forward(self, x, angles):
        x = x + self.maybe(self.attn(self.norm1(x), angles))
        return x + self.maybe(self.mlp(self.norm2(x)))


class AxialViT(nn.Module):
    def __init__(self, side=24, patch=4, dim=32, depth=3, heads=4, classes=7, registers=3):
        super().__init__()
        self.patch, self.count = patch, (side // patch) ** 2
        self.embed = nn.Linear(3 * patch * patch, dim)
        self.registers = nn.Parameter(torch.randn(registers, dim) * 0.02)
        self.register_buffer("angles", axial_angles(side // patch, dim // heads))
        self.blocks = nn.ModuleList([AxialBlock(dim, heads, 0.05 * i) for i in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, images):
        x = self.embed(to_patches(images, self.patch))
        x = torch.cat([x, self.registers.expand(x.shape[0], -1, -1)], dim=1)
        for block in self.blocks:
            x = block(x, self.angles)
        patches = self.norm(x)[:, : self.count]
        return Seen(scores=self.head(patches.mean(dim=1)), patches=patches)


def build():
    return {"model": AxialViT(), "batch": torch.randn(4, 3, 24, 24)}
