"""BERT from scratch, pretraining by masked words: three embeddings, an additive mask of the padding, an output layer tied to the words."""

import badak as torch
import badak.nn as nn
from badak.nn import functional as F

PAD, CLS, SEP, MASK = 0, 1, 2, 3


class Embeddings(nn.Module):
    def __init__(self, vocab, hidden, max_pos, types, p):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.position = nn.Embedding(max_pos, hidden)
        self.token_type = nn.Embedding(types, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(p)
        self.register_buffer("position_ids", torch.arange(max_pos).unsqueeze(0))

    def forward(self, ids, type_ids):
        pos = self.position_ids[:, : ids.shape[1]]
        e = self.word(ids) + self.position(pos) + self.token_type(type_ids)
        return self.dropout(self.LayerNorm(e))


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads, p):
        super().__init__()
        self.h, self.d = heads, hidden // heads
        self.qkv = nn.Linear(hidden, hidden * 3)
        self.proj = nn.Linear(hidden, hidden)
        self.drop = nn.Dropout(p)

    def forward(self, x, bias):
        B, T, C = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        att = (q @ k.transpose(-2, -1)) * (self.d**-0.5)
        att = att + bias
        att = self.drop(att.softmax(dim=-1))
        out = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(out)


class Layer(nn.Module):
    def __init__(self, hidden, heads, inner, p):
        super().__init__()
        self.attention = SelfAttention(hidden, heads, p)
        self.ln1 = nn.LayerNorm(hidden)
        self.ff = nn.Sequential(nn.Linear(hidden, inner), nn.GELU(), nn.Linear(inner, hidden))
        self.ln2 = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(p)

    def forward(self, x, bias):
        x = self.ln1(x + self.drop(self.attention(x, bias)))
        return self.ln2(x + self.drop(self.ff(x)))


class BERT(nn.Module):
    def __init__(self, vocab=110, hidden=40, layers=2, heads=4, inner=80, max_pos=48, p=0.1):
        super().__init__()
        self.embeddings = Embeddings(vocab, hidden, max_pos, 2, p)
        self.encoder = nn.ModuleList([Layer(hidden, heads, inner, p) for _ in range(layers)])
        self.transform = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden))
        self.decoder = nn.Linear(hidden, vocab)
        self.apply(self._init)
        self.decoder.weight = self.embeddings.word.weight

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, 0.0, 0.05)
            nn.init.zeros_(m.bias)

    def forward(self, input_ids, token_type_ids, attention_mask, labels=None):
        bias = (1.0 - attention_mask.float())[:, None, None, :] * -1e9
        x = self.embeddings(input_ids, token_type_ids)
        for layer in self.encoder:
            x = layer(x, bias)
        scores = self.decoder(self.transform(x))
        if labels is None:
            return scores
        loss = F.cross_entropy(scores.view(-1, scores.size(-1)), labels.view(-1), ignore_index=-100)
        return loss, scores


def mask_tokens(ids, prob=0.15):
    labels = ids.clone()
    chosen = (torch.rand(ids.shape) < prob) & (ids > MASK)
    chosen[:, 2] = True
    labels[~chosen] = -100
    masked = ids.masked_fill(chosen, MASK)
    return masked, labels


def build():
    T, rows = 16, []
    for a, b in ((6, 5), (7, 6), (4, 5), (5, 3)):
        first = torch.randint(4, 110, (a,))
        second = torch.randint(4, 110, (b,))
        row = torch.cat([torch.tensor([CLS]), first, torch.tensor([SEP]), second, torch.tensor([SEP])])
        types = torch.cat([torch.zeros(a + 2), torch.ones(b + 1)]).long()
        rows.append((F.pad(row, (0, T - len(row)), value=PAD), F.pad(types, (0, T - len(types)))))
    ids, types = (torch.stack(t) for t in zip(*rows))
    masked, labels = mask_tokens(ids)
    model = BERT()
    batch = {"input_ids": masked, "token_type_ids": types, "attention_mask": (ids != PAD).long(), "labels": labels}
    return {"model": model, "batch": batch, "optimizer": torch.optim.AdamW(model.parameters(), lr=1e-4)}
