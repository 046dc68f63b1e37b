"""Masked pictures: an encoder of the patches that are left and a narrow decoder of all, with einsum for the heads; which are left
is given as noise for each patch."""

import numpy as np

import badak as torch
import badak.nn.functional as F
from badak import nn


def sincos_1d(dim, pos):
    omega = 1.0 / 10000 ** (np.arange(dim // 2) / (dim / 2.0))
    out = np.einsum("m,d->md", pos.reshape(-1), omega)
    return np.concatenate([np.sin(out), np.cos(out)], axis=1)


def sincos_2d(dim, side):
    h, w = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    table = np.concatenate([sincos_1d(dim // 2, h), sincos_1d(dim // 2, w)], axis=1)
    return torch.from_numpy(np.concatenate([np.zeros((1, dim)), table]).astype("float32"))[None]


class MultiHead(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).unbind(2)
        dots = torch.einsum("bihd,bjhd->bhij", q, k) * (c // self.heads) ** -0.5
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bjhd->bihd", attn, v).reshape(b, n, c)
        return self.proj(out)


class ViTBlock(nn.Module):
    def __init__(self, dim, heads, drop=0.1):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = MultiHead(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(drop), nn.Linear(2 * dim, dim))
        self.gamma_1, self.gamma_2 = nn.Parameter(torch.ones(dim) * 0.1), nn.Parameter(torch.ones(dim) * 0.1)

    def forward(self, x):
        x = x + self.gamma_1 * self.attn(self.norm1(x))
        return x + self.gamma_2 * self.mlp(self.norm2(x))


class MaskedAutoencoder(nn.Module):
    def __init__(self, side=16, patch=4, chans=3, dim=32, depth=2, dec_dim=24, dec_depth=2, heads=4, ratio=0.5):
        super().__init__()
        self.patch, self.ratio, grid = patch, ratio, side // patch
        self.patch_embed = nn.Conv2d(chans, dim, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.register_buffer("pos_embed", sincos_2d(dim, grid))
        self.blocks = nn.ModuleList([ViTBlock(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.decoder_embed = nn.Linear(dim, dec_dim)
        self.mask_token = nn.Parameter(torch.randn(1, 1, dec_dim) * 0.02)
        self.register_buffer("decoder_pos_embed", sincos_2d(dec_dim, grid))
        self.decoder_blocks = nn.ModuleList([ViTBlock(dec_dim, heads) for _ in range(dec_depth)])
        self.decoder_norm = nn.LayerNorm(dec_dim)
        self.decoder_pred = nn.Linear(dec_dim, patch**2 * chans)

    def patchify(self, imgs):
        p = self.patch
        b, c, h, w = imgs.shape
        x = imgs.reshape(b, c, h // p, p, w // p, p)
        return torch.einsum("bchpwq->bhwpqc", x).reshape(b, (h // p) * (w // p), p * p * c)

    def encode(self, imgs, noise):
        x = self.patch_embed(imgs).flatten(2).transpose(1, 2)
        x = x + self.pos_embed[:, 1:]
        b, n, c = x.shape
        keep = int(n * (1 - self.ratio))
        ids_shuffle = noise.argsort(dim=1)
        ids_restore = ids_shuffle.argsort(dim=1)
        x = x.gather(1, ids_shuffle[:, :keep, None].expand(-1, -1, c))
        mask = torch.ones(b, n)
        mask[:, :keep] = 0
        mask = mask.gather(1, ids_restore)
        cls = (self.cls_token + self.pos_embed[:, :1]).expand(b, -1, -1)
        x = torch.cat([cls, x], dim=1)
        for block in self.blocks:
            x = block(x)
        return self.norm(x), mask, ids_restore

    def decode(self, x, ids_restore):
        x = self.decoder_embed(x)
        b, n = ids_restore.shape
        tokens = self.mask_token.expand(b, n + 1 - x.shape[1], -1)
        full = torch.cat([x[:, 1:], tokens], dim=1)
        full = full.gather(1, ids_restore[:, :, None].expand(-1, -1, x.shape[2]))
        x = torch.cat([x[:, :1], full], dim=1) + self.decoder_pos_embed
        for block in self.decoder_blocks:
            x = block(x)
        return self.decoder_pred(self.decoder_norm(x))[:, 1:]

    def forward(self, imgs, noise):
        latent, mask, ids_restore = self.encode(imgs, noise)
        pred = self.decode(latent, ids_restore)
        error = F.mse_loss(pred, self.patchify(imgs), reduction="none").mean(dim=-1)
        loss = (error * mask).sum() / mask.sum()
        return {"loss": loss, "pred": pred, "mask": mask}


def build():
    return {"model": MaskedAutoencoder(), "batch": (torch.randn(4, 3, 16, 16), torch.rand(4, 16))}
