"""Two streams, patches and words, in one attention (as SD3's MMDiT), each with maps of its own, shifted and scaled by the time."""

import math

import badak as torch
from badak import nn


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2).float() / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class Stream(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(dim, elementwise_affine=False)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))

    def pre(self, x, c):
        shift, scale, *rest = self.ada(c).chunk(6, dim=-1)
        b, n, _ = x.shape
        qkv = self.qkv(modulate(self.norm1(x), shift, scale)).reshape(b, n, 3, self.heads, -1)
        return qkv.permute(2, 0, 3, 1, 4), rest

    def post(self, x, y, rest):
        gate, shift, scale, gate2 = rest
        x = x + gate.unsqueeze(1) * self.proj(y)
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift, scale))


class JointBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.image, self.text = Stream(dim, heads), Stream(dim, heads)

    def forward(self, x, w, c, keep):
        qkv_x, rest_x = self.image.pre(x, c)
        qkv_w, rest_w = self.text.pre(w, c)
        q, k, v = torch.cat([qkv_w, qkv_x], dim=3).unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(~keep[:, None, None, :], -1e9)
        y = (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2)
        n = w.shape[1]
        return self.image.post(x, y[:, n:], rest_x), self.text.post(w, y[:, :n], rest_w)


class Joint(nn.Module):
    def __init__(self, vocab=40, dim=32, heads=4, depth=2, side=4, channels=3):
        super().__init__()
        self.channels, self.side, self.dim = channels, side, dim
        self.cut = nn.Conv2d(channels, dim, 2, stride=2)
        self.where = nn.Parameter(torch.randn(1, side * side, dim) * 0.3)
        self.words = nn.Embedding(vocab, dim, padding_idx=0)
        self.places = nn.Parameter(torch.randn(1, 20, dim) * 0.3)
        self.time = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList([JointBlock(dim, heads) for _ in range(depth)])
        self.pool = nn.Linear(dim, dim)
        self.norm, self.out = nn.LayerNorm(dim), nn.Linear(dim, 4 * channels)

    def forward(self, noisy, t, prompt):
        x = self.cut(noisy).flatten(2).transpose(1, 2) + self.where
        w = self.words(prompt) + self.places[:, : prompt.shape[1]]
        c = self.time(timestep_embedding(t, self.dim))
        keep = torch.cat([prompt != 0, torch.ones(len(x), x.shape[1], dtype=torch.bool)], dim=1)
        for block in self.blocks:
            x, w = block(x, w, c, keep)
        real = (prompt != 0).unsqueeze(-1)
        x = x + self.pool((w * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True))
        y = self.out(self.norm(x)).view(len(x), self.side, self.side, 2, 2, self.channels)
        return torch.einsum("bhwpqc->bchpwq", y).reshape(noisy.shape)


def build():
    prompt = torch.randint(1, 40, (4, 9))
    for row, length in enumerate((9, 6, 7, 4)):
        prompt[row, length:] = 0
    return {"model": Joint(), "batch": {"noisy": torch.randn(4, 3, 8, 8), "t": torch.randint(0, 1000, (4,)), "prompt": prompt}}
