"""Functions from a few points (attentive neural process): pairs attend to each other, new places ask them."""

import badak as torch
import badak.nn.functional as F
from badak import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.h = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, q, k, v, known):
        def part(x):
            return x.unflatten(-1, (self.h, -1)).transpose(1, 2)

        q, k, v = part(self.wq(q)), part(self.wk(k)), part(self.wv(v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=known[:, None, None, :])
        return self.wo(y.transpose(1, 2).flatten(2))


class SelfBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Heads(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = mlp(width, 2 * width, width)

    def forward(self, r, known):
        n = self.norm1(r)
        r = r + self.attention(n, n, n, known)
        return r + self.feed(self.norm2(r))


class AttentiveProcess(nn.Module):
    def __init__(self, dim_x=2, dim_y=1, width=32, heads=4):
        super().__init__()
        self.pair_path, self.pair_latent = mlp(dim_x + dim_y, width, width), mlp(dim_x + dim_y, width, width)
        self.blocks = nn.ModuleList([SelfBlock(width, heads) for _ in range(2)])
        self.place = mlp(dim_x, width, width)
        self.cross = Heads(width, heads)
        self.latent = nn.Linear(width, width)
        self.decoder = mlp(dim_x + 2 * width, width, width, 2 * dim_y)

    def forward(self, x_context, y_context, known, x_target):
        pairs = torch.cat([x_context, y_context], dim=-1)
        r = self.pair_path(pairs)
        for block in self.blocks:
            r = block(r, known)
        told = self.cross(self.place(x_target), self.place(x_context), r, known)
        s = self.pair_latent(pairs) * known.unsqueeze(-1)
        z = torch.tanh(self.latent(s.sum(dim=1) / known.sum(dim=1, keepdim=True)))
        z = z.unsqueeze(1).expand(-1, x_target.shape[1], -1)
        mean, raw = self.decoder(torch.cat([x_target, told, z], dim=-1)).chunk(2, dim=-1)
        return mean, 0.1 + 0.9 * F.softplus(raw)


def build():
    known = torch.arange(9)[None] < torch.tensor([9, 5, 7, 4])[:, None]
    batch = {"x_context": torch.randn(4, 9, 2), "y_context": torch.randn(4, 9, 1), "known": known, "x_target": torch.randn(4, 6, 2)}
    return {"model": AttentiveProcess(), "batch": batch}
