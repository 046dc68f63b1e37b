"""Music as four streams of codes, each one step behind the one before: their embeddings are summed, a head answers each; a
caption is asked across, classifier-free; sinusoids, layers that are written out."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def delay(codes, special):
    B, K, T = codes.shape
    out = codes.new_full((B, K, T + K - 1), special)
    for k in range(K):
        out[:, k, k : k + T] = codes[:, k]
    return out


class SinusoidalPositions(nn.Module):
    def __init__(self, dim, max_period=10000):
        super().__init__()
        self.dim, self.max_period = dim, max_period

    def forward(self, length):
        half = self.dim // 2
        at = torch.arange(length).float()[:, None]
        freq = torch.exp(-math.log(self.max_period) * torch.arange(half).float() / (half - 1))
        return torch.cat([torch.cos(at * freq), torch.sin(at * freq)], dim=-1)


class StreamingAttention(nn.Module):
    def __init__(self, dim, heads, causal=False, p=0.1):
        super().__init__()
        self.heads, self.causal, self.p = heads, causal, p
        self.q, self.k, self.v = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.out_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, query, key, value, padding=None):
        B, T, C = query.shape
        q, k, v = (
            f(x).view(B, -1, self.heads, C // self.heads).transpose(1, 2)
            for f, x in zip((self.q, self.k, self.v), (query, key, value))
        )
        keep = None if padding is None else padding[:, None, None, :]
        p = self.p if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, dropout_p=p, is_causal=self.causal)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


class LMLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.self_attn, self.cross_attention = StreamingAttention(dim, heads, causal=True), StreamingAttention(dim, heads)
        self.norm1, self.norm_cross, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.linear1, self.linear2, self.dropout = (
            nn.Linear(dim, 2 * dim, bias=False),
            nn.Linear(2 * dim, dim, bias=False),
            nn.Dropout(0.1),
        )

    def forward(self, x, condition, condition_mask):
        y = self.norm1(x)
        x = x + self.dropout(self.self_attn(y, y, y))
        x = x + self.dropout(self.cross_attention(self.norm_cross(x), condition, condition, condition_mask))
        return x + self.dropout(self.linear2(self.dropout(F.gelu(self.linear1(self.norm2(x))))))


class CodebookLM(nn.Module):
    def __init__(self, n_q=4, card=31, dim=32, heads=4, depth=2, words=47, text_dim=24):
        super().__init__()
        self.n_q, self.card = n_q, card
        self.emb = nn.ModuleList([nn.Embedding(card + 1, dim) for _ in range(n_q)])
        self.text = nn.Embedding(words, text_dim, padding_idx=0)
        self.text_places = nn.Embedding(16, text_dim)
        self.condition = nn.Linear(text_dim, dim)
        self.positions = SinusoidalPositions(dim)
        self.layers = nn.ModuleList([LMLayer(dim, heads) for _ in range(depth)])
        self.out_norm = nn.LayerNorm(dim)
        self.linears = nn.ModuleList([nn.Linear(dim, card, bias=False) for _ in range(n_q)])

    def conditions(self, words):
        x = self.text(words) + self.text_places(torch.arange(words.shape[1]))
        return self.condition(x), words != 0

    def forward(self, codes, words):
        condition, keep = self.conditions(words)
        delayed = delay(codes, self.card)
        start = delayed.new_full((codes.shape[0], self.n_q, 1), self.card)
        given = torch.cat([start, delayed[:, :, :-1]], dim=2)
        x = sum(self.emb[k](given[:, k]) for k in range(self.n_q))
        x = x + self.positions(x.shape[1])
        for layer in self.layers:
            x = layer(x, condition, keep)
        x = self.out_norm(x)
        logits = torch.stack([self.linears[k](x) for k in range(self.n_q)], dim=1)
        target = delayed.masked_fill(delayed == self.card, -100)
        loss = F.cross_entropy(logits.reshape(-1, self.card), target.reshape(-1), ignore_index=-100)
        return logits, loss


def build():
    words = torch.randint(1, 47, (4, 7))
    for row, n in enumerate((7, 5, 3, 6)):
        words[row, n:] = 0
    return {"model": CodebookLM(), "batch": (torch.randint(0, 31, (4, 4, 9)), words)}
