"""A tagger of proteins with random features (Performer): positive kernels, two sums, padding taken out of the keys."""

import math

import badak as torch
from badak import nn

PAD = 0


def orthogonal(rows, columns):
    blocks = []
    for _ in range(math.ceil(rows / columns)):
        q, _ = torch.linalg.qr(torch.randn(columns, columns))
        blocks.append(q.t())
    return torch.cat(blocks)[:rows] * torch.randn(rows, columns).norm(dim=1, keepdim=True)


def softmax_kernel(data, projection, is_query, eps=1e-4):
    scale = data.shape[-1] ** -0.25
    dash = torch.einsum("...id,jd->...ij", scale * data, projection)
    half = (data**2).sum(dim=-1, keepdim=True) / 2.0 * scale**2
    if is_query:
        dash = torch.exp(dash - half - dash.amax(dim=-1, keepdim=True).detach()) + eps
    else:
        dash = torch.exp(dash - half) + eps
    return projection.shape[0] ** -0.5 * dash


def linear_attention(q, k, v):
    k_sum = k.sum(dim=-2)
    d_inv = 1.0 / torch.einsum("bhnd,bhd->bhn", q, k_sum)
    context = torch.einsum("bhnd,bhne->bhde", k, v)
    return torch.einsum("bhde,bhnd,bhn->bhne", context, q, d_inv)


class FastSelfAttention(nn.Module):
    def __init__(self, dim, heads, features=20):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.to_out = nn.Linear(dim, dim)
        self.register_buffer("projection_matrix", orthogonal(features, dim // heads))

    def split(self, t):
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = map(self.split, (self.to_q(x), self.to_k(x), self.to_v(x)))
        q = softmax_kernel(q, self.projection_matrix, True)
        k = softmax_kernel(k, self.projection_matrix, False)
        k = k * mask[:, None, :, None]
        out = linear_attention(q, k, v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class PreLayerNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm, self.fn = nn.LayerNorm(dim), fn

    def forward(self, x, *args):
        return self.fn(self.norm(x), *args)


class Chunk(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1, self.act, self.w2 = nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.w2(self.act(self.w1(x)))


class Performer(nn.Module):
    def __init__(self, acids=26, dim=36, depth=3, heads=3, most=40, tags=8):
        super().__init__()
        self.token_emb = nn.Embedding(acids, dim)
        self.pos_emb = nn.Embedding(most, dim)
        self.layers = nn.ModuleList(
            [nn.ModuleList([PreLayerNorm(dim, FastSelfAttention(dim, heads)), PreLayerNorm(dim, Chunk(dim))]) for _ in range(depth)]
        )
        self.norm = nn.LayerNorm(dim)
        self.to_tags = nn.Linear(dim, tags)

    def forward(self, acids, mask):
        x = self.token_emb(acids)
        x = x + self.pos_emb(torch.arange(acids.size(1)))
        for attend, feed in self.layers:
            x = x + attend(x, mask)
            x = x + feed(x)
        return self.to_tags(self.norm(x))


def build():
    acids = torch.randint(1, 26, (4, 19))
    for row, length in enumerate((19, 14, 16, 11)):
        acids[row, length:] = PAD
    return {"model": Performer(), "batch": {"acids": acids, "mask": acids != PAD}, "kind": "bidirectional", "pad": PAD}
