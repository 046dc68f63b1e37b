"""A classifier of documents with a Linformer's attention: keys and values are mixed down to a few places."""

import badak as torch
from badak import nn

PAD = 0


class LowRankAttention(nn.Module):
    def __init__(self, width, heads, longest, rank):
        super().__init__()
        self.heads, self.d = heads, width // heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k, self.to_v = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.proj_k = nn.Parameter(torch.randn(longest, rank) / longest**0.5)
        self.proj_v = nn.Parameter(torch.randn(longest, rank) / longest**0.5)
        self.to_out = nn.Linear(width, width)

    def forward(self, x, keep):
        b, t, c = x.shape
        q = self.to_q(x).view(b, t, self.heads, self.d).transpose(1, 2)
        k, v = self.to_k(x) * keep.unsqueeze(-1), self.to_v(x) * keep.unsqueeze(-1)
        k = torch.einsum("btc,tr->brc", k, self.proj_k[:t])
        v = torch.einsum("btc,tr->brc", v, self.proj_v[:t])
        k = k.view(b, -1, self.heads, self.d).transpose(1, 2)
        v = v.view(b, -1, self.heads, self.d).transpose(1, 2)
        weights = (q @ k.transpose(-2, -1) * self.d**-0.5).softmax(dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_out(y)


class LowRankBlock(nn.Module):
    def __init__(self, width, heads, longest, rank, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = LowRankAttention(width, heads, longest, rank)
        self.net = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(dropout), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, keep):
        x = x + self.dropout(self.attn(self.norm1(x), keep))
        return x + self.net(self.norm2(x))


class Linformer(nn.Module):
    def __init__(self, vocab=60, width=32, depth=2, heads=4, longest=24, rank=6, classes=4, dropout=0.1):
        super().__init__()
        self.token_emb = nn.Embedding(vocab, width)
        self.pos_emb = nn.Embedding(longest, width)
        self.layers = nn.ModuleList([LowRankBlock(width, heads, longest, rank, dropout) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.to_logits = nn.Linear(2 * width, classes)

    def forward(self, ids):
        keep = (ids != PAD).float()
        x = self.token_emb(ids) + self.pos_emb(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x, keep)
        x = self.norm(x)
        mean = (x * keep.unsqueeze(-1)).sum(dim=1) / keep.sum(dim=1, keepdim=True)
        largest = x.masked_fill(keep.unsqueeze(-1) == 0, -1e4).amax(dim=1)
        return self.to_logits(torch.cat([mean, largest], dim=-1))


def build():
    ids = torch.randint(1, 60, (5, 20))
    ids[1, 13:], ids[3, 17:] = PAD, PAD
    return {"model": Linformer(), "batch": ids}
