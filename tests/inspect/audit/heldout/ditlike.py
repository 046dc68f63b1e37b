"""A diffusion transformer: patches of a noisy picture, its time and its class steer scale, shift and gate of each block."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(1000.0) * torch.arange(dim // 2).float() / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class DiTBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d, elementwise_affine=False), nn.LayerNorm(d, elementwise_affine=False)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(approximate="tanh"), nn.Linear(2 * d, d))
        self.adaLN = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d))
        nn.init.zeros_(self.adaLN[1].weight)
        nn.init.zeros_(self.adaLN[1].bias)

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.adaLN(c).chunk(6, dim=1)
        h = modulate(self.norm1(x), shift1, scale1)
        x = x + gate1.unsqueeze(1) * self.attn(h, h, h, need_weights=False)[0]
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift2, scale2))


class DiT(nn.Module):
    def __init__(self, size=12, patch=3, channels=2, d=32, depth=2, heads=4, classes=5):
        super().__init__()
        self.patch, self.channels, self.side = patch, channels, size // patch
        self.x_embedder = nn.Linear(patch * patch * channels, d)
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, self.side**2, d))
        self.t_embedder = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))
        self.y_embedder, self.d = nn.Embedding(classes, d), d
        self.blocks = nn.ModuleList([DiTBlock(d, heads) for _ in range(depth)])
        self.final_norm, self.final = nn.LayerNorm(d), nn.Linear(d, patch * patch * channels)

    def patchify(self, x):
        n, c, _, _ = x.shape
        x = x.reshape(n, c, self.side, self.patch, self.side, self.patch)
        return x.permute(0, 2, 4, 3, 5, 1).reshape(n, self.side**2, -1)

    def unpatchify(self, x):
        n = x.shape[0]
        x = x.reshape(n, self.side, self.side, self.patch, self.patch, self.channels)
        return x.permute(0, 5, 1, 3, 2, 4).reshape(n, self.channels, self.side * self.patch, self.side * self.patch)

    def forward(self, x, t, y):
        h = self.x_embedder(self.patchify(x)) + self.pos_embed
        c = self.t_embedder(timestep_embedding(t, self.d)) + self.y_embedder(y)
        for block in self.blocks:
            h = block(h, c)
        return self.unpatchify(self.final(self.final_norm(h)))


def build():
    noise = torch.randn(4, 2, 12, 12)
    batch = {"x": torch.randn(4, 2, 12, 12), "t": torch.randint(1000, (4,)), "y": torch.tensor([0, 3, 1, 4])}
    return {"model": DiT(), "batch": batch, "loss": lambda out: F.mse_loss(out, noise)}
