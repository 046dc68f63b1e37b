"""A vision transformer as timm writes it: one product for all three, layer scale, drop path, a class token, registers."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def drop_path(x, p, training):
    if p == 0.0 or not training:
        return x
    keep = (torch.rand(x.shape[0], 1, 1) >= p).float()
    return x * keep / (1 - p)


class Attention(nn.Module):
    def __init__(self, dim, num_heads=4):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim**-0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.attn_drop = nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = self.attn_drop(attn.softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, drop=0.1):
        super().__init__()
        self.norm1, self.norm2, self.attn = nn.LayerNorm(dim), nn.LayerNorm(dim), Attention(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))
        self.ls1, self.ls2 = nn.Parameter(0.1 * torch.ones(dim)), nn.Parameter(0.1 * torch.ones(dim))
        self.drop = drop

    def forward(self, x):
        x = x + drop_path(self.ls1 * self.attn(self.norm1(x)), self.drop, self.training)
        return x + drop_path(self.ls2 * self.mlp(self.norm2(x)), self.drop, self.training)


class VisionTransformer(nn.Module):
    def __init__(self, dim=32, depth=3, classes=7, registers=2):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 4, stride=4)
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        self.reg_token = nn.Parameter(0.02 * torch.randn(1, registers, dim))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, 16, dim))
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(2 * dim, classes)
        self.registers = registers

    def forward_features(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = x + self.pos_embed
        prefix = torch.cat([self.cls_token, self.reg_token], dim=1).expand(x.shape[0], -1, -1)
        x = torch.cat([prefix, x], dim=1)
        for blk in self.blocks:
            x = blk(x)
        return self.norm(x)

    def forward(self, x):
        x = self.forward_features(x)
        patches = x[:, 1 + self.registers :]
        return self.head(torch.cat([x[:, 0], patches.mean(dim=1)], dim=-1))


def build():
    model, labels = VisionTransformer(), torch.randint(7, (4,))
    return {"model": model, "batch": torch.randn(4, 3, 16, 16), "loss": lambda out: F.cross_entropy(out, labels)}
