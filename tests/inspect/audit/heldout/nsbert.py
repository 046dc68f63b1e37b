"""BERT with its outputs in a SimpleNamespace: segments, an attention mask of ones and zeros, a label for each text, too."""

from types import SimpleNamespace

import badak as torch
from badak import nn

CONFIG = SimpleNamespace(vocab_size=48, hidden=32, heads=4, layers=2, inner=64, longest=32, pad_token_id=0, drop=0.1)


class Embeddings(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.word_embeddings = nn.Embedding(c.vocab_size, c.hidden, padding_idx=c.pad_token_id)
        self.position_embeddings, self.token_type_embeddings = nn.Embedding(c.longest, c.hidden), nn.Embedding(2, c.hidden)
        self.norm, self.drop = nn.LayerNorm(c.hidden), nn.Dropout(c.drop)

    def forward(self, input_ids, token_type_ids):
        position_ids = torch.arange(input_ids.size(1)).unsqueeze(0).expand(input_ids.size(0), -1)
        x = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        x = x + self.token_type_embeddings(token_type_ids)
        return self.drop(self.norm(x))


class SelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.size = c.heads, c.hidden // c.heads
        self.query, self.key, self.value = (nn.Linear(c.hidden, c.hidden) for _ in range(3))
        self.dense, self.drop = nn.Linear(c.hidden, c.hidden), nn.Dropout(c.drop)

    def shape(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.shape(self.query(x)), self.shape(self.key(x)), self.shape(self.value(x))
        scores = q @ k.transpose(-1, -2) / self.size**0.5
        scores = scores + mask
        probs = self.drop(scores.softmax(dim=-1))
        context = (probs @ v).transpose(1, 2).contiguous()
        return self.dense(context.view(x.size(0), x.size(1), -1))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention, self.norm_1 = SelfAttention(c), nn.LayerNorm(c.hidden)
        self.up, self.down, self.norm_2 = nn.Linear(c.hidden, c.inner), nn.Linear(c.inner, c.hidden), nn.LayerNorm(c.hidden)

    def forward(self, x, mask):
        x = self.norm_1(x + self.attention(x, mask))
        return self.norm_2(x + self.down(nn.functional.gelu(self.up(x))))


class PreTraining(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.config = c
        self.embeddings = Embeddings(c)
        self.encoder = nn.ModuleList([Layer(c) for _ in range(c.layers)])
        self.pooler, self.predictions, self.relation = (
            nn.Linear(c.hidden, c.hidden),
            nn.Linear(c.hidden, c.vocab_size),
            nn.Linear(c.hidden, 2),
        )

    def forward(self, input_ids, token_type_ids, attention_mask, labels=None, next_sentence_label=None):
        extended = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        x = self.embeddings(input_ids, token_type_ids)
        for layer in self.encoder:
            x = layer(x, extended)
        relation = self.relation(torch.tanh(self.pooler(x[:, 0])))
        logits, loss = self.predictions(x), None
        if labels is not None:
            each = nn.CrossEntropyLoss()
            loss = each(logits.view(-1, 48), labels.view(-1)) + each(relation, next_sentence_label)
        return SimpleNamespace(loss=loss, prediction_logits=logits, seq_relationship_logits=relation)


def build():
    ids, types, mask = torch.randint(4, 48, (4, 14)), torch.zeros(4, 14, dtype=torch.long), torch.ones(4, 14, dtype=torch.long)
    labels = torch.full((4, 14), -100)
    for row, n in enumerate((14, 10, 12, 8)):
        types[row, n // 2 : n] = 1
        ids[row, n:], mask[row, n:] = 0, 0
        labels[row, 2:n:3] = ids[row, 2:n:3]
        ids[row, 2:n:3] = 3
    relation = torch.tensor([0, 1, 1, 0])
    batch = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask, "labels": labels, "next_sentence_label": relation}
    return {"model": PreTraining(), "batch": batch}
