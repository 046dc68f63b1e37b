"""What someone buys next: items, what they did with them and when; pointwise attention without a softmax, gated, with biases
of places and of time passed; the items' table answers, and negatives that were drawn stand next to it."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class RelativeBias(nn.Module):
    def __init__(self, max_len, buckets=12):
        super().__init__()
        self.max_len, self.buckets = max_len, buckets
        self.pos_w = nn.Parameter(torch.randn(2 * max_len - 1) * 0.1)
        self.time_w = nn.Parameter(torch.randn(buckets + 1) * 0.1)

    def forward(self, times):
        n = times.shape[1]
        at = torch.arange(n)
        pos = self.pos_w[at[None, :] - at[:, None] + self.max_len - 1]
        gap = (times[:, :, None] - times[:, None, :]).abs().float()
        bucket = torch.log2(gap + 1).long().clamp(max=self.buckets)
        return pos + self.time_w[bucket]


class SequentialUnit(nn.Module):
    def __init__(self, dim, heads, head_dim, max_len, p):
        super().__init__()
        self.heads, self.head_dim = heads, head_dim
        self.norm = nn.LayerNorm(dim)
        self.uvqk = nn.Linear(dim, 4 * heads * head_dim)
        self.rel = RelativeBias(max_len)
        self.out_norm, self.out, self.drop = nn.LayerNorm(heads * head_dim), nn.Linear(heads * head_dim, dim), nn.Dropout(p)

    def forward(self, x, times, visible):
        B, N, _ = x.shape
        u, v, q, k = F.silu(self.uvqk(self.norm(x))).split(self.heads * self.head_dim, dim=-1)
        q, k, v = (t.view(B, N, self.heads, self.head_dim) for t in (q, k, v))
        qk = torch.einsum("bnhd,bmhd->bhnm", q, k) + self.rel(times).unsqueeze(1)
        a = F.silu(qk) / self.rel.max_len * visible
        y = torch.einsum("bhnm,bmhd->bnhd", a, v).reshape(B, N, -1)
        return x + self.drop(self.out(self.out_norm(y) * u))


class NextItem(nn.Module):
    def __init__(self, items=61, actions=4, dim=32, heads=2, head_dim=16, depth=2, max_len=20, p=0.1):
        super().__init__()
        self.item_emb = nn.Embedding(items, dim, padding_idx=0)
        self.action_emb = nn.Embedding(actions, dim)
        self.blocks = nn.ModuleList([SequentialUnit(dim, heads, head_dim, max_len, p) for _ in range(depth)])
        self.drop = nn.Dropout(p)

    def encode(self, items, actions, times):
        valid = (items != 0).float()
        n = items.shape[1]
        visible = torch.ones(n, n).tril()[None] * valid[:, None, :]
        x = self.item_emb(items) * self.item_emb.embedding_dim**0.5 + self.action_emb(actions)
        x = self.drop(x) * valid.unsqueeze(-1)
        for block in self.blocks:
            x = block(x, times, visible.unsqueeze(1)) * valid.unsqueeze(-1)
        return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)

    def forward(self, items, actions, times, positives, negatives):
        x = self.encode(items, actions, times)
        pos, neg = self.item_emb(positives), self.item_emb(negatives)
        pos, neg = F.normalize(pos, dim=-1), F.normalize(neg, dim=-1)
        score = torch.cat([(x * pos).sum(-1, keepdim=True), torch.einsum("bnd,bnkd->bnk", x, neg)], dim=-1) / 0.1
        loss = -score.log_softmax(dim=-1)[..., 0]
        valid = (positives != 0).float()
        return (loss * valid).sum() / valid.sum(), x


def build():
    history = torch.randint(1, 61, (4, 13))
    actions, times = torch.randint(0, 4, (4, 12)), torch.randint(1, 400, (4, 12)).cumsum(dim=1)
    for row, n in enumerate((13, 9, 11, 7)):
        history[row, n:] = 0
    negatives = torch.randint(1, 61, (4, 12, 5))
    batch = {"items": history[:, :-1], "actions": actions, "times": times, "positives": history[:, 1:], "negatives": negatives}
    return {"model": NextItem(), "batch": batch}
