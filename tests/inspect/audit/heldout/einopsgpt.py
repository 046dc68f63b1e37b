"""A small GPT, written with einops: queries, keys and values of one map, PyTorch's own attention, the loss in the forward."""

from einops import rearrange

import badak as torch
import badak.nn.functional as F
from badak import nn


class Attention(nn.Module):
    def __init__(self, dim, heads=4, dropout=0.1):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        x = self.norm(x)
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in qkv)
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        out = rearrange(out, "b h n d -> b n (h d)")
        return self.to_out(out)


def FeedForward(dim, mult=4, dropout=0.1):
    return nn.Sequential(
        nn.LayerNorm(dim),
        nn.Linear(dim, dim * mult),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(dim * mult, dim),
    )


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([Attention(dim, heads), FeedForward(dim)]))

    def forward(self, x):
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return x


class GPT(nn.Module):
    def __init__(self, num_tokens=65, dim=48, depth=3, heads=4, max_seq_len=64):
        super().__init__()
        self.max_seq_len = max_seq_len
        self.token_emb = nn.Embedding(num_tokens, dim)
        self.pos_emb = nn.Embedding(max_seq_len, dim)
        self.drop = nn.Dropout(0.1)
        self.transformer = Transformer(dim, depth, heads)
        self.norm = nn.LayerNorm(dim)
        self.to_logits = nn.Linear(dim, num_tokens, bias=False)
        self.apply(self._init_weights)
        self.to_logits.weight = self.token_emb.weight  # weight tying

    def _init_weights(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)

    def forward(self, x, targets=None):
        b, n = x.shape
        assert n <= self.max_seq_len
        pos = torch.arange(n, device=x.device)
        x = self.token_emb(x) + self.pos_emb(pos)
        x = self.drop(x)
        x = self.transformer(x)
        logits = self.to_logits(self.norm(x))
        if targets is None:
            return logits
        loss = F.cross_entropy(rearrange(logits, "b n c -> b c n"), targets)
        return logits, loss


def build():
    model = GPT()
    data = torch.randint(0, 65, (4, 25))
    x, y = data[:, :-1], data[:, 1:]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    return {"model": model, "batch": (x, y), "optimizer": optimizer}
