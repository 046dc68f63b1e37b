"""Short films: each patch attends to the same place of the other pictures, then to the other places of its own; a token for
the class goes with all, tables for places and for time, a path that is dropped; written with rearranged views."""

import badak as torch
from badak import nn


def drop_path(x, p, training):
    if p == 0.0 or not training:
        return x
    keep = (torch.rand(x.shape[0], *([1] * (x.ndim - 1))) >= p).float()
    return x * keep / (1 - p)


class Mlp(nn.Module):
    def __init__(self, dim, hidden, drop=0.1):
        super().__init__()
        self.fc1, self.act, self.fc2, self.drop = nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim), nn.Dropout(drop)

    def forward(self, x):
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class Attention(nn.Module):
    def __init__(self, dim, num_heads, with_qkv_bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=with_qkv_bias)
        self.proj, self.attn_drop = nn.Linear(dim, dim), nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = self.attn_drop(attn.softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.temporal_norm, self.temporal_attn = nn.LayerNorm(dim), Attention(dim, heads)
        self.temporal_fc = nn.Linear(dim, dim)
        self.norm1, self.attn = nn.LayerNorm(dim), Attention(dim, heads)
        self.norm2, self.mlp = nn.LayerNorm(dim), Mlp(dim, 2 * dim)
        self.p = p

    def forward(self, x, B, T, N):
        C = x.shape[-1]
        cls, xt = x[:, :1], x[:, 1:]
        # (b, n t, c) -> (b n, t, c)
        y = xt.reshape(B * N, T, C)
        y = drop_path(self.temporal_attn(self.temporal_norm(y)), self.p, self.training)
        y = self.temporal_fc(y.reshape(B, N * T, C))
        xt = xt + y
        # (b, n t, c) -> (b t, n, c)
        xs = xt.reshape(B, N, T, C).transpose(1, 2).reshape(B * T, N, C)
        each = cls.repeat(1, T, 1).reshape(B * T, 1, C)
        xs = torch.cat((each, xs), dim=1)
        y = drop_path(self.attn(self.norm1(xs)), self.p, self.training)
        new_cls = y[:, 0].reshape(B, T, C).mean(dim=1, keepdim=True)
        y = y[:, 1:].reshape(B, T, N, C).transpose(1, 2).reshape(B, N * T, C)
        x = torch.cat((cls + new_cls, xt + y), dim=1)
        return x + drop_path(self.mlp(self.norm2(x)), self.p, self.training)


class VideoTransformer(nn.Module):
    def __init__(self, frames=4, size=8, patch=4, dim=32, depth=2, heads=4, num_classes=6):
        super().__init__()
        n = (size // patch) ** 2
        self.proj = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, n + 1, dim) * 0.02)
        self.time_embed = nn.Parameter(torch.randn(1, frames, dim) * 0.02)
        self.blocks = nn.ModuleList([Block(dim, heads, 0.1 * i) for i in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, num_classes)

    def forward(self, x):
        B, C, T, H, W = x.shape
        x = x.permute(0, 2, 1, 3, 4).reshape(B * T, C, H, W)
        x = self.proj(x).flatten(2).transpose(1, 2)
        N = x.shape[1]
        x = torch.cat((self.cls_token.expand(B * T, -1, -1), x), dim=1) + self.pos_embed
        cls = x[:B, :1]
        x = x[:, 1:].reshape(B, T, N, -1).transpose(1, 2).reshape(B * N, T, -1)
        x = x + self.time_embed
        x = x.reshape(B, N * T, -1)
        x = torch.cat((cls, x), dim=1)
        for blk in self.blocks:
            x = blk(x, B, T, N)
        return self.head(self.norm(x)[:, 0])


def build():
    return {"model": VideoTransformer(), "batch": torch.randn(3, 3, 4, 8, 8)}
