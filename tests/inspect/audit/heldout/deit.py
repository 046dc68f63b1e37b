"""A picture transformer with a class and a distillation token, layer scale, blocks as nn.Sequential; two heads, one mean."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Patches(nn.Module):
    def __init__(self, side, patch, width):
        super().__init__()
        self.n = (side // patch) ** 2
        self.proj = nn.Conv2d(3, width, kernel_size=patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class MSA(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.h, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).view(b, n, 3, self.h, c // self.h)
        q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), MSA(width, heads)
        self.norm2, self.fc1, self.fc2 = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.gamma1, self.gamma2 = nn.Parameter(0.1 * torch.ones(width)), nn.Parameter(0.1 * torch.ones(width))

    def forward(self, x):
        x = x + self.gamma1 * self.attn(self.norm1(x))
        return x + self.gamma2 * self.fc2(F.gelu(self.fc1(self.norm2(x))))


class DeiT(nn.Module):
    def __init__(self, side=24, patch=6, width=32, heads=4, depth=3, classes=10):
        super().__init__()
        self.patch_embed = Patches(side, patch, width)
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.dist_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, self.patch_embed.n + 2, width))
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head, self.head_dist = nn.Linear(width, classes), nn.Linear(width, classes)

    def forward(self, x):
        b = x.size(0)
        x = self.patch_embed(x)
        x = torch.cat((self.cls_token.expand(b, -1, -1), self.dist_token.expand(b, -1, -1), x), dim=1)
        x = x + self.pos_embed
        x = self.norm(self.blocks(x))
        return (self.head(x[:, 0]) + self.head_dist(x[:, 1])) / 2


def build():
    return {"model": DeiT(), "batch": torch.randn(4, 3, 24, 24)}
