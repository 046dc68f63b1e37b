"""Pictures in patches with rotary positions of two axes, register tokens, layer scales, a head for each patch and one for all."""

import badak as torch
from badak import nn
from badak.nn import functional as F


def angles(side, size):
    rate = 1.0 / 50 ** (torch.arange(size // 4).float() / (size // 4))
    y, x = torch.arange(side * side) // side, torch.arange(side * side) % side
    both = torch.cat([y[:, None].float() * rate, x[:, None].float() * rate], dim=-1)
    return torch.cat([both, both], dim=-1)


def turn(x, angle):
    a, b = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, angle, extra):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q = torch.cat([q[:, :, :extra], turn(q[:, :, extra:], angle)], dim=2)
        k = torch.cat([k[:, :, :extra], turn(k[:, :, extra:], angle)], dim=2)
        weights = (q @ k.mT / q.size(-1) ** 0.5).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = Attention(d, heads)
        self.fc1, self.fc2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.s1, self.s2 = nn.Parameter(0.1 * torch.ones(d)), nn.Parameter(0.1 * torch.ones(d))

    def forward(self, x, angle, extra):
        x = x + self.s1 * self.attn(self.n1(x), angle, extra)
        return x + self.s2 * self.fc2(F.gelu(self.fc1(self.n2(x))))


class Grid(nn.Module):
    def __init__(self, d=32, heads=4, depth=2, side=5, extra=3, classes=6):
        super().__init__()
        self.cut = nn.Conv2d(3, d, 4, stride=4)
        self.registers = nn.Parameter(0.2 * torch.randn(1, extra, d))
        self.extra = extra
        self.register_buffer("angle", angles(side, d // heads))
        self.blocks = nn.ModuleList([Block(d, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(d)
        self.dense, self.whole = nn.Linear(d, classes), nn.Linear(d, classes)

    def forward(self, pixels):
        x = self.cut(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.registers.expand(len(x), -1, -1), x], dim=1)
        for block in self.blocks:
            x = block(x, self.angle, self.extra)
        x = self.norm(x)
        return {"dense": self.dense(x[:, self.extra :]), "whole": self.whole(x[:, 0])}


def build():
    return {"model": Grid(), "batch": {"pixels": torch.randn(3, 3, 20, 20)}}
