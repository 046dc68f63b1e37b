"""Names in sentences by a BiLSTM with a CRF on top, its forward algorithm and Viterbi written out; a small Experiment class."""

import random

import torch
from torch import nn

TAGS = ["O", "B", "I"]
FILL = [f"w{i}" for i in range(40)]
FIRST = [f"F{i}" for i in range(15)]
LAST = [f"L{i}" for i in range(15)]
word_to_ix = {w: i for i, w in enumerate(["<pad>", *FILL, *FIRST, *LAST])}


def sentence(rng):
    words, tags = [], []
    while len(words) < rng.randint(4, 11):
        if rng.random() < 0.35:
            words.append(rng.choice(FIRST))
            tags.append(1)
            for _ in range(rng.choice([0, 1, 1, 2])):
                words.append(rng.choice(LAST))
                tags.append(2)
        else:
            words.append(rng.choice(FILL + LAST[:3]))
            tags.append(0)
    return words, tags


def make_batch(pairs):
    longest = max(len(w) for w, _ in pairs)
    ids = torch.zeros(len(pairs), longest, dtype=torch.long)
    tags = torch.zeros(len(pairs), longest, dtype=torch.long)
    mask = torch.zeros(len(pairs), longest, dtype=torch.bool)
    for row, (words, labels) in enumerate(pairs):
        ids[row, : len(words)] = torch.tensor([word_to_ix[w] for w in words])
        tags[row, : len(words)] = torch.tensor(labels)
        mask[row, : len(words)] = True
    return ids, tags, mask


class CRF(nn.Module):
    def __init__(self, n_tags):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(n_tags))
        self.end = nn.Parameter(torch.zeros(n_tags))
        self.trans = nn.Parameter(torch.randn(n_tags, n_tags) * 0.1)  # from, to

    def gold_score(self, emissions, tags, mask):
        rows = torch.arange(len(tags))
        score = self.start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
        for t in range(1, tags.size(1)):
            step = self.trans[tags[:, t - 1], tags[:, t]] + emissions[rows, t, tags[:, t]]
            score = score + step * mask[:, t]
        last = mask.sum(dim=1) - 1
        return score + self.end[tags[rows, last]]

    def partition(self, emissions, mask):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.size(1)):
            scores = alpha.unsqueeze(2) + self.trans.unsqueeze(0) + emissions[:, t].unsqueeze(1)
            new = torch.logsumexp(scores, dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), new, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    def decode(self, emissions, mask):
        best_paths = []
        for row in range(len(emissions)):
            length = int(mask[row].sum())
            score, back = self.start + emissions[row, 0], []
            for t in range(1, length):
                best, which = (score.unsqueeze(1) + self.trans).max(dim=0)
                score = best + emissions[row, t]
                back.append(which)
            tag = int((score + self.end).argmax())
            path = [tag]
            for which in reversed(back):
                tag = int(which[tag])
                path.append(tag)
            best_paths.append(path[::-1])
        return best_paths


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab_size, embedding_dim=24, hidden_dim=32):
        super().__init__()
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(0.2)
        self.hidden2tag = nn.Linear(hidden_dim, len(TAGS))
        self.crf = CRF(len(TAGS))

    def emissions(self, ids, mask):
        packed = nn.utils.rnn.pack_padded_sequence(self.word_embeds(ids), mask.sum(dim=1), batch_first=True, enforce_sorted=False)
        out, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.hidden2tag(self.dropout(out))

    def forward(self, ids, tags, mask):
        e = self.emissions(ids, mask)
        return (self.crf.partition(e, mask) - self.crf.gold_score(e, tags, mask)).mean()

    def predict(self, ids, mask):
        return self.crf.decode(self.emissions(ids, mask), mask)


class Experiment:
    def __init__(self, n_train=800, n_dev=120, batch_size=25, lr=0.01):
        rng = random.Random(5)
        self.train_data = [sentence(rng) for _ in range(n_train)]
        self.dev_data = [sentence(rng) for _ in range(n_dev)]
        self.batch_size = batch_size
        self.model = BiLSTM_CRF(len(word_to_ix))
        self.optim = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.optim, gamma=0.8)

    def batches(self, data, shuffle):
        data = list(data)
        if shuffle:
            random.shuffle(data)
        for i in range(0, len(data), self.batch_size):
            yield make_batch(data[i : i + self.batch_size])

    def fit_epoch(self):
        self.model.train()
        total, n = 0.0, 0
        for ids, tags, mask in self.batches(self.train_data, shuffle=True):
            self.optim.zero_grad()
            nll = self.model(ids, tags, mask)
            nll.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optim.step()
            total, n = total + nll.item(), n + 1
        return total / n

    def score(self):
        self.model.eval()
        right = whole = 0
        with torch.no_grad():
            for ids, tags, mask in self.batches(self.dev_data, shuffle=False):
                for path, gold, keep in zip(self.model.predict(ids, mask), tags, mask, strict=True):
                    right += path == gold[keep].tolist()
                    whole += 1
        return right / whole

    def run(self, epochs=3):
        for epoch in range(epochs):
            loss = self.fit_epoch()
            self.sched.step()
            print(f"{epoch}: nll {loss:.3f}, whole sentences right {self.score():.3f}")


random.seed(5)
torch.manual_seed(5)
Experiment().run()
