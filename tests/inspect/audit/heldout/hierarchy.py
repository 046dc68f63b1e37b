"""Documents of sentences of words: words are encoded and pooled by attention, sentences again; a label for each document."""

import badak as torch
from badak import nn


class AttentivePool(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj, self.context = nn.Linear(d, d), nn.Linear(d, 1, bias=False)

    def forward(self, h, keep):
        e = self.context(torch.tanh(self.proj(h))).squeeze(-1)
        a = e.masked_fill(~keep, -1e4).softmax(dim=-1)
        return (a.unsqueeze(-1) * h).sum(dim=1)


class Level(nn.Module):
    def __init__(self, d, heads, longest):
        super().__init__()
        self.places = nn.Embedding(longest, d)
        self.layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.1, batch_first=True, activation="gelu")
        self.pool = AttentivePool(d)

    def forward(self, x, keep):
        x = x + self.places(torch.arange(x.shape[1]))
        return self.pool(self.layer(x, src_key_padding_mask=~keep), keep)


class DocumentClassifier(nn.Module):
    def __init__(self, vocab=45, d=24, heads=4, classes=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=0)
        self.words, self.sentences, self.out = Level(d, heads, 16), Level(d, heads, 8), nn.Linear(d, classes)

    def forward(self, text):
        b, s, w = text.shape
        keep = text != 0
        flat = self.words(self.embed(text).reshape(b * s, w, -1), keep.reshape(b * s, w) | (torch.arange(w) == 0))
        return self.out(self.sentences(flat.reshape(b, s, -1), keep.any(dim=-1)))


def build():
    text = torch.randint(1, 45, (3, 5, 7))
    text[0, 2, 5:], text[1, 0, 3:], text[2, 4, 4:] = 0, 0, 0
    return {"model": DocumentClassifier(), "batch": text}
