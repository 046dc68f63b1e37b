"""Sentence pairs as SBERT has them: one encoder for both, a mean over what is no padding, u, v and |u - v| classified."""

import badak as torch
from badak import nn


class Pooling(nn.Module):
    def forward(self, token_embeddings, attention_mask):
        mask = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).float()
        return torch.sum(token_embeddings * mask, 1) / torch.clamp(mask.sum(1), min=1e-9)


class SentenceEncoder(nn.Module):
    def __init__(self, vocab, dim, heads, depth):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, dim), nn.Embedding(32, dim)
        self.norm, self.dropout = nn.LayerNorm(dim), nn.Dropout(0.1)
        self.attentions = nn.ModuleList(nn.MultiheadAttention(dim, heads, dropout=0.1, batch_first=True) for _ in range(depth))
        self.norms1 = nn.ModuleList(nn.LayerNorm(dim) for _ in range(depth))
        self.ffs = nn.ModuleList(nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)) for _ in range(depth))
        self.norms2 = nn.ModuleList(nn.LayerNorm(dim) for _ in range(depth))
        self.pooling = Pooling()

    def forward(self, input_ids, attention_mask):
        positions = torch.arange(input_ids.size(1)).unsqueeze(0)
        h = self.dropout(self.norm(self.words(input_ids) + self.places(positions)))
        for attention, n1, ff, n2 in zip(self.attentions, self.norms1, self.ffs, self.norms2):
            a, _ = attention(h, h, h, key_padding_mask=attention_mask == 0, need_weights=False)
            h = n1(h + a)
            h = n2(h + ff(h))
        return self.pooling(h, attention_mask)


class PairClassifier(nn.Module):
    def __init__(self, vocab=50, dim=32, heads=4, depth=2, classes=3):
        super().__init__()
        self.encoder = SentenceEncoder(vocab, dim, heads, depth)
        self.classifier = nn.Linear(3 * dim, classes)

    def forward(self, ids_a, mask_a, ids_b, mask_b):
        u = self.encoder(ids_a, mask_a)
        v = self.encoder(ids_b, mask_b)
        return self.classifier(torch.cat([u, v, torch.abs(u - v)], dim=-1))


def build():
    ids_a, ids_b = torch.randint(1, 50, (4, 10)), torch.randint(1, 50, (4, 8))
    ids_a[1, 7:], ids_a[2, 5:], ids_b[0, 6:], ids_b[3, 4:] = 0, 0, 0, 0
    return {"model": PairClassifier(), "batch": (ids_a, (ids_a != 0).long(), ids_b, (ids_b != 0).long())}
