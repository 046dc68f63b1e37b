"""A question and passages: a question reads the words of a passage by cross-attention; a passage gets a score; padding in both."""

import badak as torch
from badak import nn


class Encoder(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, pad):
        a, _ = self.attn(x, x, x, key_padding_mask=pad, need_weights=False)
        x = self.n1(x + a)
        return self.n2(x + self.ff(x))


class Reader(nn.Module):
    def __init__(self, vocab=95, d=32, heads=4, longest=32):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, d, padding_idx=0), nn.Embedding(longest, d)
        self.question_layers = nn.ModuleList([Encoder(d, heads) for _ in range(2)])
        self.passage_layers = nn.ModuleList([Encoder(d, heads) for _ in range(2)])
        self.cross = nn.MultiheadAttention(d, heads, batch_first=True)
        self.norm = nn.LayerNorm(d)
        self.score = nn.Sequential(nn.Linear(2 * d, d), nn.Tanh(), nn.Linear(d, 1))

    def encode(self, ids, layers):
        pad = ids == 0
        x = self.words(ids) + self.places(torch.arange(ids.size(1)))
        for layer in layers:
            x = layer(x, pad)
        return x, pad

    def forward(self, question, passage):
        q, q_pad = self.encode(question, self.question_layers)
        p, p_pad = self.encode(passage, self.passage_layers)
        read, _ = self.cross(q, p, p, key_padding_mask=p_pad, need_weights=False)
        read = self.norm(q + read)
        real = (~q_pad).unsqueeze(-1).float()
        pooled = (read * real).sum(1) / real.sum(1)
        return self.score(torch.cat([pooled, q[:, 0]], dim=-1)).squeeze(-1)


def build():
    question, passage = torch.randint(1, 95, (4, 9)), torch.randint(1, 95, (4, 15))
    question[1, 6:] = 0
    passage[0, 11:] = 0
    passage[3, 8:] = 0
    return {"model": Reader(), "batch": {"question": question, "passage": passage}}
