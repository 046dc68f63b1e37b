"""A language model of an LSTM, words and answers tied, locked dropout, a state that goes in and comes out; (T."""

import badak as torch
from badak import nn


class LockedDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = p

    def forward(self, x):
        if not self.training or not self.dropout:
            return x
        keep = torch.empty(1, x.size(1), x.size(2)).bernoulli_(1 - self.dropout)
        return x * keep / (1 - self.dropout)


class RNNModel(nn.Module):
    def __init__(self, ntoken=57, ninp=32, nhid=32, nlayers=2, dropout=0.2):
        super().__init__()
        self.drop = LockedDropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnns = nn.ModuleList([nn.LSTM(ninp if i == 0 else nhid, nhid) for i in range(nlayers)])
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.3, 0.3)
        nn.init.zeros_(self.decoder.bias)

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return [(weight.new_zeros(1, batch, rnn.hidden_size), weight.new_zeros(1, batch, rnn.hidden_size)) for rnn in self.rnns]

    def forward(self, source, hidden):
        x = self.drop(self.encoder(source))
        fresh = []
        for rnn, state in zip(self.rnns, hidden):
            x, state = rnn(x, state)
            x = self.drop(x)
            fresh.append(state)
        return self.decoder(x), fresh


def build():
    model = RNNModel()
    return {"model": model, "batch": (torch.randint(57, (13, 4)), model.init_hidden(4))}
