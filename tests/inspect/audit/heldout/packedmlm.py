"""Words to fill in, several documents in a row: who belongs to which is a row of numbers, places start again with each;
turned halves, fused maps, gates; the loss reads the masked places alone."""

import badak as torch
import badak.nn.functional as F
from badak import nn

MASK_ID, PAD_ID = 1, 0


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, max_len=64, theta=10_000):
        super().__init__()
        inv = 1.0 / theta ** (torch.arange(0, dim, 2).float() / dim)
        freqs = torch.outer(torch.arange(max_len).float(), inv)
        self.register_buffer("cos", freqs.cos())
        self.register_buffer("sin", freqs.sin())

    def forward(self, x, position_ids):
        cos, sin = self.cos[position_ids][:, :, None], self.sin[position_ids][:, :, None]
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class ModernAttention(nn.Module):
    def __init__(self, hidden, heads, local):
        super().__init__()
        self.heads, self.head_dim, self.local = heads, hidden // heads, local
        self.Wqkv, self.Wo = nn.Linear(hidden, 3 * hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.rotary = RotaryEmbedding(self.head_dim, theta=1000 if local else 10_000)
        self.out_drop = nn.Dropout(0.1)

    def forward(self, x, position_ids, mask):
        bs, seq, _ = x.shape
        qkv = self.Wqkv(x).view(bs, seq, 3, self.heads, self.head_dim)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        q, k = self.rotary(q, position_ids), self.rotary(k, position_ids)
        if self.local:
            near = (position_ids[:, :, None] - position_ids[:, None, :]).abs() <= self.local
            mask = mask & near[:, None]
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask)
        return self.out_drop(self.Wo(y.transpose(1, 2).reshape(bs, seq, -1)))


class ModernMLP(nn.Module):
    def __init__(self, hidden, inner):
        super().__init__()
        self.Wi, self.Wo = nn.Linear(hidden, 2 * inner, bias=False), nn.Linear(inner, hidden, bias=False)
        self.act, self.drop = nn.GELU(), nn.Dropout(0.1)

    def forward(self, x):
        value, gate = self.Wi(x).chunk(2, dim=-1)
        return self.Wo(self.drop(self.act(value) * gate))


class ModernLayer(nn.Module):
    def __init__(self, hidden, heads, local, first):
        super().__init__()
        self.attn_norm = nn.Identity() if first else nn.LayerNorm(hidden, bias=False)
        self.attn, self.mlp_norm = ModernAttention(hidden, heads, local), nn.LayerNorm(hidden, bias=False)
        self.mlp = ModernMLP(hidden, 48)

    def forward(self, x, position_ids, mask):
        x = x + self.attn(self.attn_norm(x), position_ids, mask)
        return x + self.mlp(self.mlp_norm(x))


class PackedMLM(nn.Module):
    def __init__(self, vocab=66, hidden=32, heads=4, depth=3):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, hidden, padding_idx=PAD_ID)
        self.norm, self.drop = nn.LayerNorm(hidden, bias=False), nn.Dropout(0.1)
        self.layers = nn.ModuleList([ModernLayer(hidden, heads, 3 if i % 3 else 0, i == 0) for i in range(depth)])
        self.final_norm = nn.LayerNorm(hidden, bias=False)
        self.head = nn.Sequential(nn.Linear(hidden, hidden, bias=False), nn.GELU(), nn.LayerNorm(hidden, bias=False))
        self.decoder = nn.Linear(hidden, vocab)
        self.decoder.weight = self.tok_embeddings.weight

    def forward(self, input_ids, sequence_ids, position_ids, labels=None):
        same = sequence_ids[:, :, None] == sequence_ids[:, None, :]
        mask = (same & (input_ids != PAD_ID)[:, None, :]) | torch.eye(input_ids.shape[1], dtype=torch.bool)
        mask = mask[:, None]
        x = self.drop(self.norm(self.tok_embeddings(input_ids)))
        for layer in self.layers:
            x = layer(x, position_ids, mask)
        x = self.final_norm(x)
        logits = self.decoder(self.head(x))
        if labels is None:
            return logits
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100), logits


def build():
    ids = torch.randint(3, 66, (4, 16))
    seq, pos, labels = torch.zeros(4, 16, dtype=torch.long), torch.zeros(4, 16, dtype=torch.long), torch.full((4, 16), -100)
    for row, lengths in enumerate(((6, 10), (5, 5, 4), (9, 7), (4, 4, 6))):
        at = 0
        for number, n in enumerate(lengths):
            seq[row, at : at + n], pos[row, at : at + n] = number + 1, torch.arange(n)
            labels[row, at + 1] = ids[row, at + 1]
            ids[row, at + 1] = MASK_ID
            at += n
        ids[row, at:] = PAD_ID
        pos[row, at:] = torch.arange(16 - at)
    return {"model": PackedMLM(), "batch": {"input_ids": ids, "sequence_ids": seq, "position_ids": pos, "labels": labels}}
