"""Pictures cut into patches for a segmenter: blocks attend within windows, every second over the whole; biases of rows and of
columns that the queries ask, registers in front of the whole ones, scales of each channel behind the parts, and a neck of
convolutions."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def window_partition(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, C)


def window_unpartition(windows, size, H, W):
    B = windows.shape[0] // (H // size * W // size)
    x = windows.view(B, H // size, W // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class LayerNorm2d(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class Attention(nn.Module):
    def __init__(self, dim, num_heads, size, registers=0):
        super().__init__()
        self.num_heads, self.head_dim, self.registers = num_heads, dim // num_heads, registers
        self.scale = self.head_dim**-0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.rel_pos_h = nn.Parameter(torch.randn(2 * size - 1, self.head_dim) * 0.1)
        self.rel_pos_w = nn.Parameter(torch.randn(2 * size - 1, self.head_dim) * 0.1)

    def get_rel_pos(self, size, table):
        at = torch.arange(size)
        return table[at[:, None] - at[None, :] + size - 1]

    def rel_bias(self, q, H, W):
        r_q = q.reshape(q.shape[0], self.num_heads, H, W, self.head_dim)
        rel_h = torch.einsum("bnhwc,hkc->bnhwk", r_q, self.get_rel_pos(H, self.rel_pos_h))
        rel_w = torch.einsum("bnhwc,wkc->bnhwk", r_q, self.get_rel_pos(W, self.rel_pos_w))
        bias = rel_h[:, :, :, :, :, None] + rel_w[:, :, :, :, None, :]
        return bias.reshape(q.shape[0], self.num_heads, H * W, H * W)

    def forward(self, x, H, W):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        r = self.registers
        bias = self.rel_bias(q[:, :, r:], H, W)
        attn = attn + F.pad(bias, (r, 0, r, 0))
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class MLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.lin1, self.lin2, self.act = nn.Linear(dim, hidden), nn.Linear(hidden, dim), nn.GELU()

    def forward(self, x):
        return self.lin2(self.act(self.lin1(x)))


class Block(nn.Module):
    def __init__(self, dim, heads, grid, window):
        super().__init__()
        self.window_size = window
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, window or grid, 0 if window else 2)
        self.mlp = MLP(dim, dim * 2)
        self.ls1, self.ls2 = nn.Parameter(torch.full((dim,), 0.1)), nn.Parameter(torch.full((dim,), 0.1))

    def forward(self, x, registers):
        B, H, W, C = x.shape
        y = self.norm1(x)
        if self.window_size:
            s = self.window_size
            y = window_partition(y, s)
            y = self.attn(y.view(y.shape[0], s * s, C), s, s)
            y = window_unpartition(y.view(-1, s, s, C), s, H, W)
            x = x + self.ls1 * y
        else:
            r = registers.shape[1]
            y = torch.cat([self.norm1(registers), y.view(B, H * W, C)], dim=1)
            y = self.attn(y, H, W)
            registers = registers + self.ls1 * y[:, :r]
            x = x + self.ls1 * y[:, r:].view(B, H, W, C)
        x = x + self.ls2 * self.mlp(self.norm2(x))
        return x, registers


class ImageEncoder(nn.Module):
    def __init__(self, dim=32, depth=4, heads=4, grid=4, patch=4, out=16):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, patch, stride=patch)
        self.pos_embed = nn.Parameter(torch.randn(1, grid, grid, dim) * 0.02)
        self.registers = nn.Parameter(torch.randn(1, 2, dim) * 0.02)
        self.blocks = nn.ModuleList([Block(dim, heads, grid, 2 if i % 2 == 0 else 0) for i in range(depth)])
        self.neck = nn.Sequential(
            nn.Conv2d(dim, out, 1, bias=False), LayerNorm2d(out), nn.Conv2d(out, out, 3, padding=1, bias=False), LayerNorm2d(out)
        )

    def forward(self, images):
        x = self.patch_embed(images).permute(0, 2, 3, 1)
        x = x + self.pos_embed
        registers = self.registers.expand(x.shape[0], -1, -1)
        for blk in self.blocks:
            x, registers = blk(x, registers)
        return self.neck(x.permute(0, 3, 1, 2)), registers


class Segmenter(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.image_encoder = ImageEncoder()
        self.upscale = nn.Sequential(nn.ConvTranspose2d(16, 8, 2, stride=2), nn.GELU(), nn.ConvTranspose2d(8, classes, 2, stride=2))
        self.iou_head = nn.Linear(32, classes)

    def forward(self, images):
        features, registers = self.image_encoder(images)
        return {"masks": self.upscale(features), "iou": self.iou_head(registers.mean(1))}


def build():
    return {"model": Segmenter(), "batch": torch.randn(4, 3, 16, 16)}
