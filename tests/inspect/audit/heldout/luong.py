"""An LSTM translator with Luong's dot attention, tokens first: (S, B) and (T, B); all states of the decoder ask at once."""

import badak as torch
from badak import nn


class LuongAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wa, self.wc = nn.Linear(d, d, bias=False), nn.Linear(2 * d, d)

    def forward(self, decoded, encoded, hide):
        q, m = decoded.transpose(0, 1), encoded.transpose(0, 1)
        scores = torch.bmm(self.wa(q), m.transpose(1, 2))
        scores = scores.masked_fill(hide.transpose(0, 1)[:, None, :], -1e9)
        context = torch.bmm(scores.softmax(dim=2), m)
        return torch.tanh(self.wc(torch.cat([context, q], dim=2))).transpose(0, 1)


class LuongTranslator(nn.Module):
    def __init__(self, src_words=36, tgt_words=33, d=28):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(src_words, d, padding_idx=0), nn.Embedding(tgt_words, d)
        self.encoder, self.decoder = nn.LSTM(d, d), nn.LSTM(d, d)
        self.attention, self.out, self.drop = LuongAttention(d), nn.Linear(d, tgt_words), nn.Dropout(0.1)

    def forward(self, src, tgt):
        encoded, _ = self.encoder(self.drop(self.src_embed(src)))
        decoded, _ = self.decoder(self.drop(self.tgt_embed(tgt)))
        return self.out(self.attention(decoded, encoded, src == 0))


def build():
    src, tgt = torch.randint(1, 36, (10, 4)), torch.randint(1, 33, (8, 4))
    src[7:, 1], src[5:, 3] = 0, 0
    return {"model": LuongTranslator(), "batch": (src, tgt)}
