"""BERT with masked words, as the library lays it out; gives an object with loss and logits."""

import math
from dataclasses import dataclass
from typing import Any

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class MaskedLMOutput:
    loss: Any = None
    logits: Any = None
    attentions: Any = None


class BertEmbeddings(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, hidden, padding_idx=0)
        self.position_embeddings = nn.Embedding(32, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm, self.dropout = nn.LayerNorm(hidden, eps=1e-12), nn.Dropout(0.1)
        self.register_buffer("position_ids", torch.arange(32).expand((1, -1)))

    def forward(self, input_ids, token_type_ids):
        e = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        e = e + self.position_embeddings(self.position_ids[:, : input_ids.size(1)])
        return self.dropout(self.LayerNorm(e))


class BertSelfAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = heads, hidden // heads
        self.query, self.key, self.value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(x.size(0), x.size(1), self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        scores = scores + attention_mask
        probs = self.dropout(F.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return context.view(context.size(0), context.size(1), -1), probs


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, intermediate):
        super().__init__()
        self.attention = BertSelfAttention(hidden, heads)
        self.attention_dense, self.attention_norm = nn.Linear(hidden, hidden), nn.LayerNorm(hidden, eps=1e-12)
        self.intermediate, self.output = nn.Linear(hidden, intermediate), nn.Linear(intermediate, hidden)
        self.output_norm, self.dropout = nn.LayerNorm(hidden, eps=1e-12), nn.Dropout(0.1)

    def forward(self, x, mask):
        a, probs = self.attention(x, mask)
        x = self.attention_norm(self.dropout(self.attention_dense(a)) + x)
        y = self.output(F.gelu(self.intermediate(x)))
        return self.output_norm(self.dropout(y) + x), probs


class BertForMaskedLM(nn.Module):
    def __init__(self, vocab=45, hidden=32, heads=4, layers=2):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab, hidden)
        self.layer = nn.ModuleList([BertLayer(hidden, heads, 64) for _ in range(layers)])
        self.transform = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden))
        self.decoder = nn.Linear(hidden, vocab)
        self.decoder.weight = self.embeddings.word_embeddings.weight

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, labels=None):
        if attention_mask is None:
            attention_mask = (input_ids != 0).long()
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        extended = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        h, all_probs = self.embeddings(input_ids, token_type_ids), []
        for layer in self.layer:
            h, probs = layer(h, extended)
            all_probs.append(probs)
        logits = self.decoder(self.transform(h))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-100)
        return MaskedLMOutput(loss, logits, tuple(all_probs))


def build():
    ids = torch.randint(5, 45, (4, 13))
    mask = torch.ones(4, 13, dtype=torch.long)
    ids[1, 10:], ids[2, 7:], mask[1, 10:], mask[2, 7:] = 0, 0, 0, 0
    labels = torch.full((4, 13), -100)
    labels[:, 2:5] = ids[:, 2:5]
    ids[:, 2:5] = 4
    types = (torch.arange(13) > 6).long().expand(4, 13).clone()
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types, "labels": labels}
    return {"model": BertForMaskedLM(), "batch": given}
