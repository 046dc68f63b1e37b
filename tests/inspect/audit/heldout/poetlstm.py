"""Poems letter by letter: an LSTM whose state goes on from piece to piece of a long text (truncated backpropagation), one-hot letters."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class CharRNN(nn.Module):
    def __init__(self, n_tokens=61, n_hidden=40, n_layers=2, drop_prob=0.3):
        super().__init__()
        self.n_tokens = n_tokens
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.lstm = nn.LSTM(n_tokens, n_hidden, n_layers, dropout=drop_prob, batch_first=True)
        self.dropout = nn.Dropout(drop_prob)
        self.fc = nn.Linear(n_hidden, n_tokens)

    def forward(self, x, hidden):
        """Forward pass through the network: x (B, T) of letters, and the hidden/cell state."""
        x = F.one_hot(x, self.n_tokens).float()
        r_output, hidden = self.lstm(x, hidden)
        out = self.dropout(r_output)
        out = out.contiguous().view(-1, self.n_hidden)
        out = self.fc(out)
        return out, hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters()).data
        return (
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
        )


def get_batches(arr, batch_size, seq_length):
    """x and y of size batch_size x seq_length, y one letter further."""
    n = len(arr) // (batch_size * seq_length) * batch_size * seq_length
    rows = arr[:n].reshape(batch_size, -1)
    for i in range(0, rows.shape[1], seq_length):
        x = rows[:, i : i + seq_length]
        y = torch.zeros_like(x)
        y[:, :-1] = x[:, 1:]
        y[:, -1] = rows[:, i + seq_length] if i + seq_length < rows.shape[1] else rows[:, 0]
        yield x, y


def build():
    net = CharRNN()
    x, y = next(get_batches(torch.randint(0, 61, (500,)), 4, 15))
    state = tuple(torch.randn(s.shape) * 0.1 for s in net.init_hidden(4))  # of the piece before
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=0.001)
    return {"model": net, "batch": (x, state), "loss": lambda out: criterion(out[0], y.reshape(-1)), "optimizer": opt}
