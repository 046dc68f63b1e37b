"""Pictures in windows: attention within each window, a table of relative places, windows moved in every second block."""

import badak as torch
from badak import nn


def window_partition(x, w):
    b, h, ww, c = x.shape
    x = x.view(b, h // w, w, ww // w, w, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w * w, c)


def window_reverse(windows, w, h, ww):
    b = windows.shape[0] // ((h // w) * (ww // w))
    x = windows.view(b, h // w, ww // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, ww, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, w, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.table = nn.Parameter(torch.randn((2 * w - 1) ** 2, heads) * 0.2)
        at = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        rel = (at[:, :, None] - at[:, None, :]) + w - 1
        self.register_buffer("index", rel[0] * (2 * w - 1) + rel[1])
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        n, t, c = x.shape
        qkv = self.qkv(x).reshape(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = attn + self.table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1).unsqueeze(0)
        attn = attn.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(n, t, c))


class SwinBlock(nn.Module):
    def __init__(self, dim, shift, w=4):
        super().__init__()
        self.shift, self.w = shift, w
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(dim), WindowAttention(dim, w, 4), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, h, ww, c = x.shape
        shortcut = x
        x = self.norm1(x)
        if self.shift:
            x = torch.roll(x, shifts=(-2, -2), dims=(1, 2))
        x = window_reverse(self.attn(window_partition(x, self.w)), self.w, h, ww)
        if self.shift:
            x = torch.roll(x, shifts=(2, 2), dims=(1, 2))
        x = shortcut + x
        return x + self.mlp(self.norm2(x))


class TinySwin(nn.Module):
    def __init__(self, dim=32, classes=7):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=2, stride=2)
        self.blocks = nn.ModuleList([SwinBlock(dim, i % 2 == 1) for i in range(4)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch_embed(x).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean((1, 2)))


def build():
    return {"model": TinySwin(), "batch": torch.randn(3, 3, 16, 16)}
