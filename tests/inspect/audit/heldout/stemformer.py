"""Galaxy pictures: a few convolutions with BatchNorm, then a transformer over the cells of the last map, mean of all, seven classes."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


def conv_bn(inp, oup, stride):
    return nn.Sequential(nn.Conv2d(inp, oup, 3, stride, 1, bias=False), nn.BatchNorm2d(oup), nn.ReLU(inplace=True))


class Attention(nn.Module):
    def __init__(self, dim, heads=4, dropout=0.0):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim * 2, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.attn_drop = nn.Dropout(dropout)

    def forward(self, x):
        B, N, C = x.shape
        q = self.to_q(x).reshape(B, N, self.heads, C // self.heads).permute(0, 2, 1, 3)
        kv = self.to_kv(x).reshape(B, N, 2, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        k, v = kv[0], kv[1]
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = attn.softmax(dim=-1)
        attn = self.attn_drop(attn)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, dropout)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 3), nn.GELU(), nn.Dropout(dropout), nn.Linear(dim * 3, dim))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attn(self.norm1(x)))
        x = x + self.drop(self.mlp(self.norm2(x)))
        return x


class StemFormer(nn.Module):
    def __init__(self, dim=40, depth=2, heads=4, num_classes=7, grid=4, dropout=0.1):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 16, 2), conv_bn(16, 24, 2), conv_bn(24, 32, 2))
        self.proj = nn.Conv2d(32, dim, 1)
        self.pos_embed = nn.Parameter(torch.zeros(1, dim, grid, grid))
        nn.init.normal_(self.pos_embed, std=0.02)
        self.blocks = nn.ModuleList([Block(dim, heads, dropout) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.stem(img)
        x = self.proj(x) + self.pos_embed
        x = x.flatten(2).permute(0, 2, 1)
        for blk in self.blocks:
            x = blk(x)
        x = self.norm(x).mean(dim=1)
        return self.fc(x)


def build():
    model = StemFormer()
    img = torch.rand(6, 3, 32, 32)
    target = torch.randint(0, 7, (6,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    return {"model": model, "batch": img, "loss": lambda out: F.cross_entropy(out, target), "optimizer": optimizer}
