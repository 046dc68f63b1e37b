"""Two sentences, read both ways: buckets of distances that all layers share, norms behind the sums, words to fill in and whether
the second follows the first; answers in nested dicts."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, CLS, SEP, MASK = 0, 1, 2, 3


class Buckets(nn.Module):
    """Near distances have a bucket each, far ones share them by their logarithm; either side has its own half."""

    def __init__(self, heads, buckets=16, far=24):
        super().__init__()
        self.buckets, self.far = buckets, far
        self.table = nn.Embedding(buckets, heads)

    def bucket_of(self, relative):
        half = self.buckets // 2
        side = (relative > 0).long() * half
        n = relative.abs()
        exact = half // 2
        large = exact + (torch.log(n.clamp(min=1).float() / exact) / math.log(self.far / exact) * (half - exact)).long()
        return side + torch.where(n < exact, n, large.clamp(max=half - 1))

    def forward(self, n):
        at = torch.arange(n)
        return self.table(self.bucket_of(at[None, :] - at[:, None])).permute(2, 0, 1)[None]


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads, p):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query, self.key, self.value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(p)

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, x, mask, bias):
        q, k, v = (self.transpose_for_scores(f(x)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size) + bias + mask
        probs = self.dropout(nn.Softmax(dim=-1)(scores))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return context.view(*context.size()[:-2], -1)


class SumAndNorm(nn.Module):
    def __init__(self, given, hidden, p):
        super().__init__()
        self.dense, self.LayerNorm, self.dropout = nn.Linear(given, hidden), nn.LayerNorm(hidden), nn.Dropout(p)

    def forward(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class RelLayer(nn.Module):
    def __init__(self, hidden, heads, p):
        super().__init__()
        self.attention, self.attention_output = SelfAttention(hidden, heads, p), SumAndNorm(hidden, hidden, p)
        self.intermediate, self.output = nn.Linear(hidden, 2 * hidden), SumAndNorm(2 * hidden, hidden, p)

    def forward(self, x, mask, bias):
        x = self.attention_output(self.attention(x, mask, bias), x)
        return self.output(F.gelu(self.intermediate(x)), x)


class Heads(nn.Module):
    def __init__(self, hidden, words):
        super().__init__()
        self.transform, self.norm = nn.Linear(hidden, hidden), nn.LayerNorm(hidden)
        self.words, self.bias = words, nn.Parameter(torch.zeros(words.weight.shape[0]))
        self.pooler, self.seq_relationship = nn.Linear(hidden, hidden), nn.Linear(hidden, 2)

    def forward(self, x):
        h = self.norm(F.gelu(self.transform(x)))
        scores = F.linear(h, self.words.weight, self.bias)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return {"mlm": {"logits": scores}, "nsp": {"logits": self.seq_relationship(pooled)}}


class RelBert(nn.Module):
    def __init__(self, vocab=57, hidden=32, heads=4, layers=3, p=0.1):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.norm, self.dropout = nn.LayerNorm(hidden), nn.Dropout(p)
        self.relative = Buckets(heads)
        self.layer = nn.ModuleList([RelLayer(hidden, heads, p) for _ in range(layers)])
        self.cls = Heads(hidden, self.word_embeddings)

    def forward(self, input_ids, token_type_ids, attention_mask):
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e4
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        x = self.dropout(self.norm(x))
        bias = self.relative(input_ids.shape[1])
        for layer in self.layer:
            x = layer(x, mask, bias)
        return self.cls(x)


def build():
    ids = torch.randint(4, 57, (4, 14))
    types, mask = torch.zeros(4, 14, dtype=torch.long), torch.ones(4, 14, dtype=torch.long)
    for row, (a, n) in enumerate(((6, 14), (5, 10), (7, 12), (4, 9))):
        ids[row, 0], ids[row, a], ids[row, n - 1] = CLS, SEP, SEP
        types[row, a + 1 : n] = 1
        ids[row, n:], mask[row, n:] = PAD, 0
        ids[row, 2] = MASK
    return {"model": RelBert(), "batch": {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}}
