"""Complaints to five desks: a packed two-way GRU reads, its last state asks all states by a product (Luong), weights beside the answer."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F
from badak.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Attention(nn.Module):
    def __init__(self, hidden_dim):
        super().__init__()
        self.attn = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, query, outputs, mask):
        # query [B, H], outputs [B, T, H], mask [B, T]: True where a word stands
        scores = torch.bmm(outputs, self.attn(query).unsqueeze(2)).squeeze(2)
        scores = scores.masked_fill(~mask, -1e9)
        weights = F.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)
        return context, weights


class ComplaintClassifier(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, pad_idx, dropout=0.2):
        super().__init__()
        self.pad_idx = pad_idx
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.rnn = nn.GRU(embedding_dim, hidden_dim, num_layers=2, bidirectional=True, dropout=dropout, batch_first=True)
        self.attention = Attention(2 * hidden_dim)
        self.fc1 = nn.Linear(4 * hidden_dim, hidden_dim)
        self.fc2 = nn.Linear(hidden_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, text, text_lengths):
        embedded = self.dropout(self.embedding(text))
        packed = pack_padded_sequence(embedded, text_lengths, batch_first=True, enforce_sorted=False)
        packed_outputs, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=text.size(1))
        # the last layer, forward and backward
        final = torch.cat([hidden[-2], hidden[-1]], dim=1)
        mask = text != self.pad_idx
        context, weights = self.attention(final, outputs, mask)
        x = torch.cat([context, final], dim=1)
        x = self.dropout(F.relu(self.fc1(x)))
        return self.fc2(x), weights


def build():
    lengths = torch.tensor([14, 9, 12, 6, 11])
    text = torch.randint(1, 120, (5, 14))
    text = text.masked_fill(torch.arange(14)[None, :] >= lengths[:, None], 0)
    desks = torch.tensor([0, 4, 2, 1, 3])
    model = ComplaintClassifier(120, 24, 16, 5, pad_idx=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {
        "model": model,
        "batch": (text, lengths),
        "loss": lambda out: F.cross_entropy(out[0], desks),
        "optimizer": optimizer,
    }
