"""Headlines of news by a pointer-generator: a BiGRU reads, a GRU cell writes word by word, copies by its attention."""

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, BOS = 0, 1


class Reader(nn.Module):
    def __init__(self, embed, width):
        super().__init__()
        self.embed = embed
        self.rnn = nn.GRU(embed.embedding_dim, width, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * width, width)

    def forward(self, article, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(article), lengths, batch_first=True, enforce_sorted=False)
        states, last = self.rnn(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=article.size(1))
        return states, torch.tanh(self.bridge(torch.cat([last[0], last[1]], dim=-1)))


class Coverage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.states, self.asks = nn.Linear(2 * width, width, bias=False), nn.Linear(width, width)
        self.covered, self.score = nn.Linear(1, width, bias=False), nn.Linear(width, 1, bias=False)

    def forward(self, states, hidden, coverage, keep):
        e = self.states(states) + self.asks(hidden).unsqueeze(1) + self.covered(coverage.unsqueeze(-1))
        e = self.score(torch.tanh(e)).squeeze(-1)
        weights = e.masked_fill(~keep, -1e9).softmax(dim=-1)
        context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)
        return context, weights, coverage + weights


class PointerGenerator(nn.Module):
    def __init__(self, vocab=45, dim=20, width=24):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.reader, self.attention = Reader(self.embed, width), Coverage(width)
        self.cell = nn.GRUCell(dim + 2 * width, width)
        self.project = nn.Linear(3 * width, dim)
        self.words = nn.Linear(dim, vocab)
        self.choose = nn.Linear(3 * width + dim, 1)

    def forward(self, article, lengths, headline):
        states, hidden = self.reader(article, lengths)
        keep = torch.arange(article.size(1))[None] < lengths[:, None]
        coverage, context = torch.zeros(article.shape), torch.zeros(len(article), states.size(-1))
        steps = []
        for t in range(headline.size(1)):
            word = self.embed(headline[:, t])
            hidden = self.cell(torch.cat([word, context], dim=-1), hidden)
            context, weights, coverage = self.attention(states, hidden, coverage, keep)
            both = torch.cat([hidden, context], dim=-1)
            written = F.softmax(self.words(torch.tanh(self.project(both))), dim=-1)
            p = torch.sigmoid(self.choose(torch.cat([both, word], dim=-1)))
            copied = torch.zeros(len(article), self.vocab).scatter_add(1, article, weights)
            steps.append(torch.log(p * written + (1 - p) * copied + 1e-9))
        return torch.stack(steps, dim=1)


def build():
    article = torch.randint(2, 45, (4, 12))
    lengths = torch.tensor([12, 8, 10, 6])
    for row, length in enumerate(lengths.tolist()):
        article[row, length:] = PAD
    headline = torch.cat([torch.full((4, 1), BOS), torch.randint(2, 45, (4, 6))], dim=1)
    return {"model": PointerGenerator(), "batch": {"article": article, "lengths": lengths, "headline": headline}}
