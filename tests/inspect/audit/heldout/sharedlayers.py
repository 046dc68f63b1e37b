"""ALBERT for words to fill in: narrow embeddings that a map widens, one layer that all shares by design, masked places picked before the answer."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F

PAD, MASK = 0, 4


class AlbertEmbeddings(nn.Module):
    def __init__(self, vocab, narrow, longest, types=2):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, narrow, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(longest, narrow)
        self.token_type_embeddings = nn.Embedding(types, narrow)
        self.LayerNorm = nn.LayerNorm(narrow)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids, token_type_ids):
        position_ids = torch.arange(input_ids.shape[1], dtype=torch.long).unsqueeze(0)
        embeddings = (
            self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids) + self.position_embeddings(position_ids)
        )
        return self.dropout(self.LayerNorm(embeddings))


class AlbertAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query, self.key, self.value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.dense = nn.Linear(hidden, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.attention_dropout, self.output_dropout = nn.Dropout(0.1), nn.Dropout(0.1)

    def forward(self, hidden_states, attention_mask):
        b, t, _ = hidden_states.shape
        query = self.query(hidden_states).view(b, t, self.heads, self.size).transpose(1, 2)
        key = self.key(hidden_states).view(b, t, self.heads, self.size).transpose(1, 2)
        value = self.value(hidden_states).view(b, t, self.heads, self.size).transpose(1, 2)
        scores = torch.einsum("bhid,bhjd->bhij", query, key) / math.sqrt(self.size)
        scores = scores + attention_mask
        probs = self.attention_dropout(F.softmax(scores, dim=-1))
        context = torch.einsum("bhij,bhjd->bihd", probs, value).flatten(2)
        projected = self.output_dropout(self.dense(context))
        return self.LayerNorm(hidden_states + projected)


class AlbertLayer(nn.Module):
    """One layer; the encoder uses it again and again, its weights are shared."""

    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.attention = AlbertAttention(hidden, heads)
        self.ffn, self.ffn_output = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.full_layer_layer_norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden_states, attention_mask):
        attention_output = self.attention(hidden_states, attention_mask)
        ffn_output = self.ffn_output(F.gelu(self.ffn(attention_output), approximate="tanh"))
        return self.full_layer_layer_norm(self.dropout(ffn_output) + attention_output)


class AlbertForMaskedLM(nn.Module):
    def __init__(self, vocab=105, narrow=16, hidden=32, heads=4, inner=64, times=3, longest=40):
        super().__init__()
        self.times = times
        self.embeddings = AlbertEmbeddings(vocab, narrow, longest)
        self.embedding_hidden_mapping_in = nn.Linear(narrow, hidden)
        self.shared_layer = AlbertLayer(hidden, heads, inner)
        self.dense = nn.Linear(hidden, narrow)
        self.LayerNorm = nn.LayerNorm(narrow)
        self.decoder = nn.Linear(narrow, vocab)
        self.decoder.weight = self.embeddings.word_embeddings.weight

    def forward(self, input_ids, attention_mask, token_type_ids, labels=None):
        extended = (1.0 - attention_mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        x = self.embedding_hidden_mapping_in(self.embeddings(input_ids, token_type_ids))
        for _ in range(self.times):
            x = self.shared_layer(x, extended)
        scores = self.decoder(self.LayerNorm(F.gelu(self.dense(x), approximate="tanh")))
        if labels is None:
            return scores
        chosen = labels != -100
        loss = F.cross_entropy(scores[chosen], labels[chosen])
        return loss, scores


def build():
    lengths = torch.tensor([15, 11, 13, 9, 14])
    place = torch.arange(15)[None, :]
    attention_mask = (place < lengths[:, None]).long()
    original = torch.randint(5, 105, (5, 15)) * attention_mask
    chosen = (place % 5 == 2) & (attention_mask == 1)
    input_ids = original.masked_fill(chosen, MASK)
    labels = original.masked_fill(~chosen, -100)
    token_type_ids = (place > 6).long() * attention_mask
    model = AlbertForMaskedLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids, "labels": labels}
    return {"model": model, "batch": batch, "optimizer": optimizer}
