"""Named entities by a BiLSTM and a CRF: forward algorithm and path score by hand, a mask of words, mean of the log-likelihoods as the loss, tags beside."""

import badak as torch
from badak import nn


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.num_tags = num_tags
        self.start_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.end_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))

    def score(self, emissions, tags, mask):
        B, T, _ = emissions.shape
        rows = torch.arange(B)
        total = self.start_transitions[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
        for t in range(1, T):
            step = self.transitions[tags[:, t - 1], tags[:, t]] + emissions[rows, t, tags[:, t]]
            total = total + step * mask[:, t]
        last = mask.long().sum(dim=1) - 1
        return total + self.end_transitions[tags[rows, last]]

    def normalizer(self, emissions, mask):
        T = emissions.size(1)
        alpha = self.start_transitions + emissions[:, 0]
        for t in range(1, T):
            inner = alpha.unsqueeze(2) + self.transitions + emissions[:, t].unsqueeze(1)
            new = torch.logsumexp(inner, dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), new, alpha)
        return torch.logsumexp(alpha + self.end_transitions, dim=1)

    def forward(self, emissions, tags, mask):
        return self.score(emissions, tags, mask) - self.normalizer(emissions, mask)


class BiLSTMCRF(nn.Module):
    def __init__(self, vocab=95, num_tags=7, dim=24, hidden=16, dropout=0.2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        self.emit = nn.Linear(2 * hidden, num_tags)
        self.crf = CRF(num_tags)

    def forward(self, words, tags):
        mask = words != 0
        lengths = mask.sum(dim=1)
        x = self.dropout(self.embed(words))
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.lstm(packed)
        y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=words.size(1))
        emissions = self.emit(self.dropout(y))
        return -self.crf(emissions, tags, mask).mean(), emissions


def build():
    lengths = torch.tensor([12, 7, 10, 5, 9])
    real = torch.arange(12)[None, :] < lengths[:, None]
    words = torch.randint(1, 95, (5, 12)) * real
    tags = torch.randint(0, 7, (5, 12)) * real
    model = BiLSTMCRF()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {"model": model, "batch": (words, tags), "optimizer": optimizer}
