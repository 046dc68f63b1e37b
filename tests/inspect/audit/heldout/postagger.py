"""Parts of speech: a stacked two-way LSTM over packed words, letters of each word by a second LSTM, tags of padding are -1; batch first by hand."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F
from badak.nn.utils import rnn


class CharEncoder(nn.Module):
    """The last states of both directions over the letters of each word."""

    def __init__(self, n_chars, dim):
        super().__init__()
        self.emb = nn.Embedding(n_chars, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)

    def forward(self, chars):
        # chars (B, T, L)
        B, T, L = chars.shape
        flat = chars.view(B * T, L)
        lengths = (flat != 0).sum(dim=1).clamp(min=1)
        packed = rnn.pack_padded_sequence(self.emb(flat), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return torch.cat([h[0], h[1]], dim=-1).view(B, T, -1)


class Tagger(nn.Module):
    def __init__(self, n_words=100, n_chars=30, n_tags=9, word_dim=20, char_dim=8, hidden=18, dropout=0.25):
        super().__init__()
        self.words = nn.Embedding(n_words, word_dim, padding_idx=0)
        self.chars = CharEncoder(n_chars, char_dim)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(word_dim + 2 * char_dim, hidden, num_layers=2, dropout=dropout, batch_first=True, bidirectional=True)
        self.hidden = nn.Linear(2 * hidden, 2 * hidden)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, words, chars, lengths):
        x = torch.cat([self.words(words), self.chars(chars)], dim=-1)
        x = self.dropout(x)
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.lstm(packed)
        y, _ = rnn.pad_packed_sequence(y, batch_first=True, total_length=words.size(1))
        y = self.dropout(torch.tanh(self.hidden(y)))
        return F.log_softmax(self.out(y), dim=-1)


def collate(lengths, longest_word=7):
    T = max(lengths)
    words, tags = torch.zeros(len(lengths), T, dtype=torch.long), torch.full((len(lengths), T), -1)
    chars = torch.zeros(len(lengths), T, longest_word, dtype=torch.long)
    for i, n in enumerate(lengths):
        words[i, :n] = torch.randint(1, 100, (n,))
        tags[i, :n] = torch.randint(0, 9, (n,))
        for j in range(n):
            m = 2 + (3 * i + j) % (longest_word - 1)
            chars[i, j, :m] = torch.randint(1, 30, (m,))
    return words, chars, tags


def build():
    lengths = [11, 7, 9, 5, 8]
    words, chars, tags = collate(lengths)
    model = Tagger()
    criterion = nn.NLLLoss(ignore_index=-1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return {
        "model": model,
        "batch": (words, chars, torch.tensor(lengths)),
        "loss": lambda y: criterion(y.reshape(-1, 9), tags.reshape(-1)),
        "optimizer": optimizer,
    }
