"""Reviews with a token behind the text that gathers it (nn.MultiheadAttention, norms first, learned places), stars as a number."""

import badak as torch
from badak import nn


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.linear1 = nn.Linear(width, 3 * width)
        self.linear2 = nn.Linear(3 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, ignore):
        y = self.norm1(src)
        y, _ = self.attn(y, y, y, key_padding_mask=ignore, need_weights=False)
        src = src + self.dropout(y)
        y = self.linear2(self.dropout(torch.relu(self.linear1(self.norm2(src)))))
        return src + self.dropout(y)


class StarRater(nn.Module):
    def __init__(self, n_words=90, width=32, heads=4, n_layers=2, max_words=40):
        super().__init__()
        self.PAD = 0
        self.word = nn.Embedding(n_words, width, padding_idx=0)
        self.place = nn.Embedding(max_words, width)
        self.gather = nn.Parameter(torch.randn(width) * 0.4)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(n_layers))
        self.final = nn.LayerNorm(width)
        self.rate = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, review):
        B, T = review.shape
        x = self.word(review) + self.place(torch.arange(T))
        x = torch.cat([x, self.gather.expand(B, 1, -1)], dim=1)
        ignore = torch.cat([review == self.PAD, torch.zeros(B, 1, dtype=torch.bool)], dim=1)
        for layer in self.layers:
            x = layer(x, ignore)
        return self.rate(self.final(x[:, -1])).squeeze(-1)


def build():
    review = torch.randint(1, 90, (5, 14))
    for i, n in enumerate((14, 9, 11, 6, 12)):
        review[i, n:] = 0
    return {"model": StarRater(), "batch": {"review": review}}
