"""Two sentences in one, after BERT: segments, an additive mask made once, a pooler on the first token, labels of the pair."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class Embeddings(nn.Module):
    def __init__(self, vocab, d, longest):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, d, padding_idx=0)
        self.position_embeddings = nn.Embedding(longest, d)
        self.token_type_embeddings = nn.Embedding(2, d)
        self.LayerNorm, self.dropout = nn.LayerNorm(d), nn.Dropout(0.1)
        self.register_buffer("position_ids", torch.arange(longest).unsqueeze(0))

    def forward(self, input_ids, token_type_ids):
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        x = x + self.position_embeddings(self.position_ids[:, : input_ids.size(1)])
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = heads, d // heads
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        scores = scores + attention_mask
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return context.view(*context.size()[:-2], -1)


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attention, self.attention_output = SelfAttention(d, heads), nn.Linear(d, d)
        self.attention_norm, self.output_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.intermediate, self.output, self.dropout = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.Dropout(0.1)

    def forward(self, x, mask):
        a = self.attention_output(self.attention(x, mask))
        x = self.attention_norm(self.dropout(a) + x)
        h = self.output(F.gelu(self.intermediate(x)))
        return self.output_norm(self.dropout(h) + x)


class BertForSequenceClassification(nn.Module):
    def __init__(self, vocab=70, d=32, heads=4, depth=2, classes=3):
        super().__init__()
        self.embeddings = Embeddings(vocab, d, 32)
        self.layer = nn.ModuleList([Layer(d, heads) for _ in range(depth)])
        self.pooler, self.dropout, self.classifier = nn.Linear(d, d), nn.Dropout(0.1), nn.Linear(d, classes)

    def forward(self, input_ids, attention_mask, token_type_ids, labels=None):
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        x = self.embeddings(input_ids, token_type_ids)
        for layer in self.layer:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        logits = self.classifier(self.dropout(pooled))
        if labels is not None:
            return F.cross_entropy(logits, labels), logits
        return (logits,)


def build():
    ids = torch.randint(3, 70, (4, 14))
    mask = torch.ones(4, 14, dtype=torch.long)
    mask[1, 10:], mask[2, 12:] = 0, 0
    types = (torch.arange(14) >= 7).long().expand(4, -1) * mask
    labels = torch.tensor([0, 2, 1, 1])
    return {
        "model": BertForSequenceClassification(),
        "batch": {"input_ids": ids * mask, "attention_mask": mask, "token_type_ids": types, "labels": labels},
    }
