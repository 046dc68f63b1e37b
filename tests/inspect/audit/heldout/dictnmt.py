"""Translation that gives a dict: an encoder and a decoder of one's own, masks made of the padding id, labels made within."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, BOS = 0, 1


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk = h, d // h
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d) for _ in range(4))

    def forward(self, query, memory, keep):
        n = query.size(0)
        q = self.wq(query).view(n, -1, self.h, self.dk).transpose(1, 2)
        k = self.wk(memory).view(n, -1, self.h, self.dk).transpose(1, 2)
        v = self.wv(memory).view(n, -1, self.h, self.dk).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.dk)
        scores = scores.masked_fill(keep == 0, -1e9)
        y = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.wo(y.transpose(1, 2).contiguous().view(n, -1, self.h * self.dk))


class FeedForward(nn.Module):
    def __init__(self, d, inner):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d, inner), nn.Linear(inner, d)

    def forward(self, x):
        return self.w_2(F.relu(self.w_1(x)))


class EncoderLayer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.self_attn, self.ff, self.n1, self.n2 = Attention(d, h), FeedForward(d, 2 * d), nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, src_keep):
        x = self.n1(x + self.self_attn(x, x, src_keep))
        return self.n2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.self_attn, self.cross_attn, self.ff = Attention(d, h), Attention(d, h), FeedForward(d, 2 * d)
        self.n1, self.n2, self.n3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, y, memory, src_keep, trg_keep):
        y = self.n1(y + self.self_attn(y, y, trg_keep))
        y = self.n2(y + self.cross_attn(y, memory, src_keep))
        return self.n3(y + self.ff(y))


class Embed(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(40, d)

    def forward(self, ids):
        return self.tok(ids) * math.sqrt(self.tok.embedding_dim) + self.pos(torch.arange(ids.size(1)))


class Translator(nn.Module):
    def __init__(self, src_vocab=37, trg_vocab=43, d=32, h=4, layers=2):
        super().__init__()
        self.src_pad_idx = self.trg_pad_idx = PAD
        self.src_embed, self.trg_embed = Embed(src_vocab, d), Embed(trg_vocab, d)
        self.encoder = nn.ModuleList([EncoderLayer(d, h) for _ in range(layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d, h) for _ in range(layers)])
        self.generator = nn.Linear(d, trg_vocab)

    def encode(self, src, src_keep):
        x = self.src_embed(src)
        for layer in self.encoder:
            x = layer(x, src_keep)
        return x

    def forward(self, src, trg):
        src_keep = (src != self.src_pad_idx)[:, None, None, :]
        length = trg.size(1)
        trg_keep = (trg != self.trg_pad_idx)[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
        memory = self.encode(src, src_keep)
        y = self.trg_embed(trg)
        for layer in self.decoder:
            y = layer(y, memory, src_keep, trg_keep)
        return {"logits": self.generator(y), "memory": memory}


def build():
    src, trg = torch.randint(3, 37, (4, 11)), torch.randint(3, 43, (4, 9))
    trg[:, 0] = BOS
    for row, (s, t) in enumerate(((11, 9), (8, 6), (9, 7), (6, 8))):
        src[row, s:], trg[row, t:] = PAD, PAD
    return {"model": Translator(), "batch": (src, trg)}
