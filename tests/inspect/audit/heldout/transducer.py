"""Speech to letters by a transducer: an encoder of frames, a predictor of letters, a joint network of each pair of the two."""

import badak as torch
from badak import nn

BLANK = 0


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mha = nn.MultiheadAttention(dim, heads, dropout=p, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))
        self.drop = nn.Dropout(p)

    def forward(self, x, hide):
        y = self.ln1(x)
        x = x + self.drop(self.mha(y, y, y, key_padding_mask=hide, need_weights=False)[0])
        return x + self.drop(self.ffn(self.ln2(x)))


class AudioEncoder(nn.Module):
    def __init__(self, mels, dim, heads, depth, p):
        super().__init__()
        self.inp = nn.Linear(mels, dim)
        self.pos = nn.Parameter(torch.randn(40, dim) * 0.1)
        self.layers = nn.ModuleList([EncoderLayer(dim, heads, p) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, feats, feat_lengths):
        t = feats.shape[1]
        hide = torch.arange(t)[None] >= feat_lengths[:, None]
        x = self.inp(feats) + self.pos[:t]
        for layer in self.layers:
            x = layer(x, hide)
        return self.norm(x)


class Predictor(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)

    def forward(self, letters):
        start = torch.zeros((letters.shape[0], 1), dtype=torch.long)
        return self.rnn(self.emb(torch.cat([start, letters], dim=1)))[0]


class Joiner(nn.Module):
    def __init__(self, dim, vocab):
        super().__init__()
        self.enc, self.pred, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, vocab)

    def forward(self, h, g):
        return self.out(torch.tanh(self.enc(h).unsqueeze(2) + self.pred(g).unsqueeze(1)))


class Transducer(nn.Module):
    def __init__(self, mels=10, vocab=15, dim=32, heads=4, depth=2, p=0.1):
        super().__init__()
        self.encoder = AudioEncoder(mels, dim, heads, depth, p)
        self.predictor = Predictor(vocab, dim)
        self.joiner = Joiner(dim, vocab)

    def forward(self, feats, feat_lengths, letters):
        h, g = self.encoder(feats, feat_lengths), self.predictor(letters)
        return self.joiner(h, g).log_softmax(dim=-1)  # (B, T, U + 1, V)


def build():
    feats, lengths = torch.randn(4, 14, 10), torch.tensor([14, 11, 9, 14])
    for i, n in enumerate(lengths.tolist()):
        feats[i, n:] = 0
    return {"model": Transducer(), "batch": {"feats": feats, "feat_lengths": lengths, "letters": torch.randint(1, 15, (4, 6))}}
