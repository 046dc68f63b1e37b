"""Pictures by a Perceiver: pixels with Fourier features are asked by a few latents, again and again, in the style of einops, weights not shared."""

from math import pi

from einops import rearrange, repeat

import badak as torch
import badak.nn.functional as F
from badak import nn


def fourier_encode(x, max_freq, num_bands=4):
    x = x.unsqueeze(-1)
    orig_x = x
    scales = torch.linspace(1.0, max_freq / 2, num_bands)
    x = x * scales * pi
    x = torch.cat([x.sin(), x.cos()], dim=-1)
    return torch.cat((x, orig_x), dim=-1)


class GEGLU(nn.Module):
    def forward(self, x):
        x, gates = x.chunk(2, dim=-1)
        return x * F.gelu(gates)


class FeedForward(nn.Module):
    def __init__(self, dim, mult=2, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.net = nn.Sequential(nn.Linear(dim, dim * mult * 2), GEGLU(), nn.Linear(dim * mult, dim), nn.Dropout(dropout))

    def forward(self, x):
        return self.net(self.norm(x))


class Attention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=4, dim_head=8, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        self.scale = dim_head**-0.5
        self.heads = heads
        self.norm = nn.LayerNorm(query_dim)
        self.norm_context = nn.LayerNorm(context_dim) if context_dim is not None else None
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_kv = nn.Linear(context_dim or query_dim, inner_dim * 2, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def forward(self, x, context=None):
        h = self.heads
        x = self.norm(x)
        context = self.norm_context(context) if context is not None else x
        q = self.to_q(x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> (b h) n d", h=h) for t in (q, k, v))
        sim = torch.einsum("b i d, b j d -> b i j", q, k) * self.scale
        attn = sim.softmax(dim=-1)
        attn = self.dropout(attn)
        out = torch.einsum("b i j, b j d -> b i d", attn, v)
        out = rearrange(out, "(b h) n d -> b n (h d)", h=h)
        return self.to_out(out)


class Perceiver(nn.Module):
    def __init__(self, *, depth=2, num_latents=6, latent_dim=32, channels=3, bands=4, num_classes=7, dropout=0.1):
        super().__init__()
        self.bands = bands
        input_dim = channels + 2 * (2 * bands + 1)
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(
                nn.ModuleList(
                    [
                        Attention(latent_dim, input_dim, heads=2, dim_head=12, dropout=dropout),
                        FeedForward(latent_dim, dropout=dropout),
                        Attention(latent_dim, heads=4, dim_head=8, dropout=dropout),
                        FeedForward(latent_dim, dropout=dropout),
                    ]
                )
            )
        self.to_logits = nn.Sequential(nn.LayerNorm(latent_dim), nn.Linear(latent_dim, num_classes))

    def forward(self, data):
        # data (b, height, width, channels)
        b, *axis, _ = data.shape
        axis_pos = [torch.linspace(-1.0, 1.0, size) for size in axis]
        pos = torch.stack(torch.meshgrid(*axis_pos, indexing="ij"), dim=-1)
        enc_pos = fourier_encode(pos, 10.0, self.bands)
        enc_pos = rearrange(enc_pos, "h w n d -> h w (n d)")
        enc_pos = repeat(enc_pos, "h w d -> b h w d", b=b)
        data = torch.cat((data, enc_pos), dim=-1)
        data = rearrange(data, "b h w c -> b (h w) c")
        x = repeat(self.latents, "n d -> b n d", b=b)
        for cross_attn, cross_ff, self_attn, self_ff in self.layers:
            x = cross_attn(x, context=data) + x
            x = cross_ff(x) + x
            x = self_attn(x) + x
            x = self_ff(x) + x
        return self.to_logits(x.mean(dim=1))


def build():
    pictures = torch.randn(4, 9, 10, 3)
    labels = torch.tensor([2, 0, 6, 3])
    model = Perceiver()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return {"model": model, "batch": pictures, "loss": lambda y: F.cross_entropy(y, labels), "optimizer": optimizer}
