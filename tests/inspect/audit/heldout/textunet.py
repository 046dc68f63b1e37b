"""Noise taken out of pictures with a U: residual blocks that the time shifts and scales, attention of the places at the lower
level to themselves and to the words of a caption, skips that are joined by channels on the way up."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half).float() / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out, emb):
        super().__init__()
        self.in_layers = nn.Sequential(nn.GroupNorm(4, c_in), nn.SiLU(), nn.Conv2d(c_in, c_out, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * c_out))
        self.out_norm = nn.GroupNorm(4, c_out)
        self.out_layers = nn.Sequential(nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(c_out, c_out, 3, padding=1))
        self.skip = nn.Identity() if c_in == c_out else nn.Conv2d(c_in, c_out, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        scale, shift = self.emb_layers(emb)[:, :, None, None].chunk(2, dim=1)
        h = self.out_norm(h) * (1 + scale) + shift
        h = self.out_layers(h)
        return self.skip(x) + h


class CrossAttention(nn.Module):
    def __init__(self, dim, context_dim=None, heads=4):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        context_dim = context_dim or dim
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(context_dim, dim, bias=False)
        self.to_v = nn.Linear(context_dim, dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        b, n, c = x.shape
        q = self.to_q(x).view(b, n, self.heads, -1).permute(0, 2, 1, 3).reshape(b * self.heads, n, -1)
        k = (
            self.to_k(context)
            .view(b, context.shape[1], self.heads, -1)
            .permute(0, 2, 1, 3)
            .reshape(b * self.heads, context.shape[1], -1)
        )
        v = (
            self.to_v(context)
            .view(b, context.shape[1], self.heads, -1)
            .permute(0, 2, 1, 3)
            .reshape(b * self.heads, context.shape[1], -1)
        )
        sim = torch.bmm(q, k.transpose(1, 2)) * self.scale
        if mask is not None:
            mask = mask[:, None, :].repeat_interleave(self.heads, dim=0)
            sim = sim.masked_fill(~mask, -1e9)
        out = torch.bmm(sim.softmax(dim=-1), v)
        out = out.view(b, self.heads, n, -1).permute(0, 2, 1, 3).reshape(b, n, c)
        return self.to_out(out)


class SpatialTransformer(nn.Module):
    def __init__(self, channels, context_dim):
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.proj_in, self.proj_out = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(channels), nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.attn1 = CrossAttention(channels)
        self.attn2 = CrossAttention(channels, context_dim)
        self.ff = nn.Sequential(nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels))

    def forward(self, x, context, mask):
        b, c, h, w = x.shape
        x_in = x
        x = self.proj_in(self.norm(x))
        x = x.flatten(2).transpose(1, 2)
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), context, mask)
        x = x + self.ff(self.norm3(x))
        x = x.transpose(1, 2).reshape(b, c, h, w)
        return self.proj_out(x) + x_in


class UNetModel(nn.Module):
    def __init__(self, c=16, emb=32, vocab=43, ctx=24):
        super().__init__()
        self.c = c
        self.time_embed = nn.Sequential(nn.Linear(c, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.token_emb = nn.Embedding(vocab, ctx)
        self.token_pos = nn.Parameter(torch.randn(1, 7, ctx) * 0.02)
        self.conv_in = nn.Conv2d(3, c, 3, padding=1)
        self.down1 = ResBlock(c, c, emb)
        self.pool = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.down2 = ResBlock(c, 2 * c, emb)
        self.down_attn = SpatialTransformer(2 * c, ctx)
        self.mid1, self.mid_attn, self.mid2 = (
            ResBlock(2 * c, 2 * c, emb),
            SpatialTransformer(2 * c, ctx),
            ResBlock(2 * c, 2 * c, emb),
        )
        self.up2 = ResBlock(4 * c, 2 * c, emb)
        self.up_attn = SpatialTransformer(2 * c, ctx)
        self.up_conv = nn.Conv2d(2 * c, c, 3, padding=1)
        self.up1 = ResBlock(2 * c, c, emb)
        self.out = nn.Sequential(nn.GroupNorm(4, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))

    def forward(self, x, timesteps, tokens, token_mask):
        emb = self.time_embed(timestep_embedding(timesteps, self.c))
        context = self.token_emb(tokens) + self.token_pos
        h = self.conv_in(x)
        s1 = self.down1(h, emb)
        h = self.pool(s1)
        s2 = self.down_attn(self.down2(h, emb), context, token_mask)
        h = self.mid2(self.mid_attn(self.mid1(s2, emb), context, token_mask), emb)
        h = self.up_attn(self.up2(torch.cat([h, s2], dim=1), emb), context, token_mask)
        h = self.up_conv(F.interpolate(h, scale_factor=2, mode="nearest"))
        h = self.up1(torch.cat([h, s1], dim=1), emb)
        return self.out(h)


def build():
    tokens, mask = torch.randint(1, 43, (4, 7)), torch.ones(4, 7, dtype=torch.bool)
    for row, n in enumerate((7, 4, 6, 3)):
        tokens[row, n:], mask[row, n:] = 0, False
    return {"model": UNetModel(), "batch": (torch.randn(4, 3, 8, 8), torch.tensor([3, 50, 700, 12]), tokens, mask)}
