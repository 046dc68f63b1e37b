"""Translation that writes fast: one Attention class for all three, F.scaled_dot_product_attention, keys of both sorts kept in a dict, greedy()."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F

PAD, BOS, EOS = 0, 1, 2


class Attention(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory=None, mask=None, past=None, static=False):
        q = self.split(self.q_proj(x))
        if static and past is not None and "k" in past:
            k, v = past["k"], past["v"]
        else:
            source = x if memory is None else memory
            k, v = self.split(self.k_proj(source)), self.split(self.v_proj(source))
            if past is not None and not static and "k" in past:
                k, v = torch.cat([past["k"], k], dim=2), torch.cat([past["v"], v], dim=2)
        if past is not None:
            past["k"], past["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.dropout if self.training else 0.0)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class FFN(nn.Sequential):
    def __init__(self, dim, hidden, dropout):
        super().__init__(nn.Linear(dim, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, dim))


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden, dropout):
        super().__init__()
        self.attn, self.ffn = Attention(dim, heads, dropout), FFN(dim, hidden, dropout)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = x + self.drop(self.attn(self.ln1(x), mask=mask))
        return x + self.drop(self.ffn(self.ln2(x)))


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, hidden, dropout):
        super().__init__()
        self.attn, self.cross, self.ffn = Attention(dim, heads, dropout), Attention(dim, heads, dropout), FFN(dim, hidden, dropout)
        self.ln1, self.ln2, self.ln3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, mask, memory_mask, past=None):
        own, other = (None, None) if past is None else (past.setdefault("self", {}), past.setdefault("cross", {}))
        x = x + self.drop(self.attn(self.ln1(x), mask=mask, past=own))
        x = x + self.drop(self.cross(self.ln2(x), memory, memory_mask, past=other, static=True))
        return x + self.drop(self.ffn(self.ln3(x)))


class Translator(nn.Module):
    def __init__(self, src_words=81, tgt_words=77, dim=32, heads=4, hidden=64, layers=2, dropout=0.1, longest=48):
        super().__init__()
        self.src_embed, self.tgt_embed = (
            nn.Embedding(src_words, dim, padding_idx=PAD),
            nn.Embedding(tgt_words, dim, padding_idx=PAD),
        )
        self.positions = nn.Embedding(longest, dim)
        self.encoder = nn.ModuleList([EncoderLayer(dim, heads, hidden, dropout) for _ in range(layers)])
        self.decoder = nn.ModuleList([DecoderLayer(dim, heads, hidden, dropout) for _ in range(layers)])
        self.enc_norm, self.dec_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.out = nn.Linear(dim, tgt_words, bias=False)
        self.out.weight = self.tgt_embed.weight
        self.scale = math.sqrt(dim)
        self.drop = nn.Dropout(dropout)

    def encode(self, src):
        mask = (src != PAD)[:, None, None, :]
        x = self.drop(self.src_embed(src) * self.scale + self.positions(torch.arange(src.size(1))))
        for layer in self.encoder:
            x = layer(x, mask)
        return self.enc_norm(x), mask

    def decode(self, tgt, memory, memory_mask, past=None):
        start = past[0]["self"]["k"].size(2) if past is not None and past[0] else 0
        t = tgt.size(1)
        x = self.drop(self.tgt_embed(tgt) * self.scale + self.positions(torch.arange(start, start + t)))
        mask = torch.ones(t, start + t, dtype=torch.bool).tril(start)
        for i, layer in enumerate(self.decoder):
            x = layer(x, memory, mask, memory_mask, None if past is None else past[i])
        return self.out(self.dec_norm(x))

    def forward(self, src, tgt):
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)

    @torch.no_grad()
    def greedy(self, src, steps=10):
        memory, memory_mask = self.encode(src)
        past = [{} for _ in self.decoder]
        token = torch.full((src.size(0), 1), BOS)
        written = [token]
        for _ in range(steps):
            token = self.decode(token, memory, memory_mask, past)[:, -1].argmax(-1, keepdim=True)
            written.append(token)
        return torch.cat(written, dim=1)


def pack(lengths, words):
    rows = torch.full((len(lengths), max(lengths)), PAD)
    for i, n in enumerate(lengths):
        rows[i, :n] = torch.cat([torch.tensor([BOS]), torch.randint(3, words, (n - 2,)), torch.tensor([EOS])])
    return rows


def build():
    src, tgt = pack((10, 12, 7, 9), 81), pack((9, 8, 11, 6), 77)
    model = Translator()
    labels = tgt[:, 1:]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    return {
        "model": model,
        "batch": (src, tgt[:, :-1]),
        "loss": lambda y: F.cross_entropy(y.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=0.1),
        "optimizer": optimizer,
    }
