"""Toxic comments: a two-way LSTM over word vectors, attention pools its states, six yes-or-no answers. (Kaggle kernel)"""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F
from badak.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class SpatialDropout(nn.Dropout2d):
    def forward(self, x):
        x = x.permute(0, 2, 1).unsqueeze(2)  # (N, K, 1, T)
        x = super().forward(x)  # whole features are dropped
        return x.squeeze(2).permute(0, 2, 1)


class Attention(nn.Module):
    def __init__(self, feature_dim, hidden=24):
        super().__init__()
        self.proj = nn.Linear(feature_dim, hidden)
        self.context = nn.Linear(hidden, 1, bias=False)

    def forward(self, h, mask):
        scores = self.context(torch.tanh(self.proj(h))).squeeze(-1)
        scores = scores.masked_fill(~mask, -1e9)
        alpha = torch.softmax(scores, dim=1)
        return torch.sum(alpha.unsqueeze(-1) * h, dim=1), alpha


class ToxicNet(nn.Module):
    def __init__(self, vocab_size=160, embed_size=28, hidden=20, num_classes=6):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size, padding_idx=0)
        self.embedding_dropout = SpatialDropout(0.3)
        self.lstm = nn.LSTM(embed_size, hidden, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(hidden * 2, hidden, bidirectional=True, batch_first=True)
        self.attention = Attention(hidden * 2)
        self.linear = nn.Linear(hidden * 6, 32)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(32, num_classes)

    def recur(self, rnn, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
        return out

    def forward(self, x, lengths):
        mask = x != 0
        h = self.embedding_dropout(self.embedding(x))
        h = self.recur(self.lstm, h, lengths)
        h = self.recur(self.gru, h, lengths)

        attended, _ = self.attention(h, mask)
        avg_pool = (h * mask.unsqueeze(-1)).sum(1) / lengths.unsqueeze(-1)
        max_pool = h.masked_fill(~mask.unsqueeze(-1), -1e9).max(1)[0]

        conc = torch.cat((attended, avg_pool, max_pool), 1)
        conc = F.relu(self.linear(conc))
        conc = self.dropout(conc)
        return self.out(conc)


def build():
    lengths = torch.tensor([12, 7, 9, 4, 11])
    x = torch.randint(1, 160, (5, 12))
    x = x * (torch.arange(12)[None, :] < lengths[:, None]).long()
    y = torch.randint(0, 2, (5, 6)).float()
    model = ToxicNet()
    return {
        "model": model,
        "batch": (x, lengths),
        "loss": lambda logits: F.binary_cross_entropy_with_logits(logits, y),
        "optimizer": torch.optim.Adam(model.parameters(), lr=1e-3),
    }
