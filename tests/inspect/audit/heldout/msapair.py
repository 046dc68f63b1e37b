"""Families of proteins (after AlphaFold's Evoformer): rows and columns attend in turn."""

import badak as torch
from badak import nn

GAP, PAD = 1, 0


class GatedAttention(nn.Module):
    def __init__(self, dim, heads, pair_dim=None):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.gate, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.bias = nn.Sequential(nn.LayerNorm(pair_dim), nn.Linear(pair_dim, heads, bias=False)) if pair_dim else None

    def forward(self, x, keep, pair=None):  # x (B, R, L, D), keep (B, R, L)
        x = self.norm(x)
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)) for f in (self.to_q, self.to_k, self.to_v))
        scores = torch.einsum("brihd,brjhd->brhij", q, k) * q.shape[-1] ** -0.5
        if self.bias is not None:
            scores = scores + self.bias(pair).permute(0, 3, 1, 2).unsqueeze(1)
        scores = scores.masked_fill(~keep[:, :, None, None, :], -1e9)
        y = torch.einsum("brhij,brjhd->brihd", scores.softmax(dim=-1), v).flatten(-2)
        return self.out(torch.sigmoid(self.gate(x)) * y)


class OuterMean(nn.Module):
    def __init__(self, dim, pair_dim, inner=8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.left, self.right = nn.Linear(dim, inner), nn.Linear(dim, inner)
        self.out = nn.Linear(inner * inner, pair_dim)

    def forward(self, x, keep):
        x, m = self.norm(x), keep.unsqueeze(-1).float()
        a, b = self.left(x) * m, self.right(x) * m
        outer = torch.einsum("bric,brjd->bijcd", a, b).flatten(-2)
        count = torch.einsum("bri,brj->bij", keep.float(), keep.float()).unsqueeze(-1)
        return self.out(outer / count.clamp(min=1))


class Triangle(nn.Module):
    def __init__(self, pair_dim):
        super().__init__()
        self.norm_in, self.norm_out = nn.LayerNorm(pair_dim), nn.LayerNorm(pair_dim)
        self.a, self.b, self.gate, self.out = (nn.Linear(pair_dim, pair_dim) for _ in range(4))

    def forward(self, z, pair_keep):
        z = self.norm_in(z)
        a, b = self.a(z) * pair_keep, self.b(z) * pair_keep
        y = torch.einsum("bikc,bjkc->bijc", a, b)
        return torch.sigmoid(self.gate(z)) * self.out(self.norm_out(y))


class EvoBlock(nn.Module):
    def __init__(self, dim, pair_dim, heads):
        super().__init__()
        self.row, self.col = GatedAttention(dim, heads, pair_dim), GatedAttention(dim, heads)
        self.msa_mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.outer, self.triangle = OuterMean(dim, pair_dim), Triangle(pair_dim)
        self.pair_mlp = nn.Sequential(
            nn.LayerNorm(pair_dim), nn.Linear(pair_dim, 2 * pair_dim), nn.ReLU(), nn.Linear(2 * pair_dim, pair_dim)
        )

    def forward(self, x, z, keep):
        x = x + self.row(x, keep, z)
        x = x + self.col(x.transpose(1, 2), keep.transpose(1, 2)).transpose(1, 2)
        x = x + self.msa_mlp(x)
        z = z + self.outer(x, keep)
        places = keep.any(dim=1)
        z = z + self.triangle(z, (places[:, :, None] & places[:, None, :]).unsqueeze(-1).float())
        return x, z + self.pair_mlp(z)


class Family(nn.Module):
    def __init__(self, letters=23, dim=24, pair_dim=16, heads=3, depth=2, reach=4):
        super().__init__()
        self.reach = reach
        self.embed = nn.Embedding(letters, dim, padding_idx=PAD)
        self.first = nn.Parameter(torch.randn(dim) * 0.3)
        self.left, self.right = nn.Linear(dim, pair_dim), nn.Linear(dim, pair_dim)
        self.distance = nn.Embedding(2 * reach + 1, pair_dim)
        self.blocks = nn.ModuleList([EvoBlock(dim, pair_dim, heads) for _ in range(depth)])
        self.norm, self.contact, self.fold = nn.LayerNorm(dim), nn.Linear(pair_dim, 1), nn.Linear(dim, 3)

    def forward(self, msa):  # (B, R, L) ids; the first row is the protein itself
        keep = msa != PAD
        x = self.embed(msa)
        x = torch.cat([x[:, :1] + self.first, x[:, 1:]], dim=1)
        target = self.embed(msa[:, 0])
        place = torch.arange(msa.shape[-1])
        apart = (place[None, :] - place[:, None]).clamp(-self.reach, self.reach) + self.reach
        z = self.left(target)[:, :, None] + self.right(target)[:, None, :] + self.distance(apart)
        for block in self.blocks:
            x, z = block(x, z, keep)
        contacts = self.contact(z + z.transpose(1, 2)).squeeze(-1)
        return {"fold": self.fold(self.norm(x[:, 0])), "contacts": contacts}


def build():
    msa = torch.randint(1, 23, (3, 5, 11))
    for row, length in enumerate((11, 7, 9)):
        msa[row, :, length:] = PAD
    return {"model": Family(), "batch": msa, "kind": "bidirectional"}
