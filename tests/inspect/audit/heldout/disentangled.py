"""An encoder after DeBERTa: content and distance ask each other in three sums; a class for each token, labels of -100, a loss."""

import math
from types import SimpleNamespace

import badak as torch
import badak.nn.functional as F
from badak import nn


class DisentangledSelfAttention(nn.Module):
    def __init__(self, d, heads, span):
        super().__init__()
        self.heads, self.size, self.span = heads, d // heads, span
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.pos_key, self.pos_query = nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(*x.shape[:-1], self.heads, self.size).transpose(-3, -2)

    def forward(self, x, mask, rel_embeddings):
        b, t, d = x.shape
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        pk, pq = self.split(self.pos_key(rel_embeddings)), self.split(self.pos_query(rel_embeddings))
        place = torch.arange(t)
        rel = (place[:, None] - place[None, :]).clamp(-self.span, self.span - 1) + self.span
        scores = q @ k.transpose(-1, -2)
        index = rel.expand(b, self.heads, t, t)
        scores = scores + torch.gather(q @ pk.transpose(-1, -2), -1, index)
        scores = scores + torch.gather(k @ pq.transpose(-1, -2), -1, index).transpose(-1, -2)
        scores = scores / math.sqrt(self.size * 3)
        scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        probs = self.dropout(F.softmax(scores, dim=-1))
        return (probs @ v).transpose(1, 2).reshape(b, t, d)


class Block(nn.Module):
    def __init__(self, d, heads, span):
        super().__init__()
        self.self, self.dense = DisentangledSelfAttention(d, heads, span), nn.Linear(d, d)
        self.LayerNorm = nn.LayerNorm(d)
        self.intermediate, self.output, self.out_norm = nn.Linear(d, 3 * d), nn.Linear(3 * d, d), nn.LayerNorm(d)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask, rel):
        x = self.LayerNorm(self.dropout(self.dense(self.self(x, mask, rel))) + x)
        return self.out_norm(self.dropout(self.output(F.gelu(self.intermediate(x)))) + x)


class TokenClassifier(nn.Module):
    def __init__(self, vocab=64, d=36, heads=3, depth=2, span=8, classes=7):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, d, padding_idx=0)
        self.norm = nn.LayerNorm(d)
        self.rel_embeddings = nn.Embedding(2 * span, d)
        self.layer = nn.ModuleList([Block(d, heads, span) for _ in range(depth)])
        self.classifier = nn.Linear(d, classes)

    def forward(self, input_ids, attention_mask, labels=None):
        mask = attention_mask.bool()
        hidden = self.norm(self.word_embeddings(input_ids)) * mask.unsqueeze(-1)
        for block in self.layer:
            hidden = block(hidden, mask, self.rel_embeddings.weight)
        logits = self.classifier(hidden)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1), ignore_index=-100)
        return SimpleNamespace(loss=loss, logits=logits)


def build():
    ids = torch.randint(1, 64, (5, 13))
    mask = torch.ones(5, 13, dtype=torch.long)
    mask[0, 9:], mask[3, 11:] = 0, 0
    labels = torch.randint(7, (5, 13)).masked_fill(mask == 0, -100)
    return {"model": TokenClassifier(), "batch": {"input_ids": ids * mask, "attention_mask": mask, "labels": labels}}
