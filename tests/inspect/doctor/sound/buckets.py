"""Easy texts first: batches of one length each, shortest first; packed, so that nothing is padding; noise on the gradients."""

import random

import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)
VOCAB = 20


def text(length):
    words = [random.randrange(1, VOCAB) for _ in range(length)]
    return words, int(sum(w > VOCAB // 2 for w in words) * 2 > length)


texts = sorted((text(random.randint(3, 14)) for _ in range(500)), key=lambda row: len(row[0]))
buckets = {}
for words, label in texts:
    buckets.setdefault(len(words), []).append((words, label))


class Reader(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.table = nn.Embedding(VOCAB, d)
        self.rnn = nn.LSTM(d, d, batch_first=True)
        self.out = nn.Linear(d, 1)

    def forward(self, words):
        _, (last, _) = self.rnn(self.table(words))
        return self.out(last[-1]).squeeze(-1)


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(2):
    for length in sorted(buckets):
        rows = buckets[length]
        random.shuffle(rows)
        for start in range(0, len(rows) - 7, 8):
            words, labels = zip(*rows[start : start + 8])
            loss = nn.functional.binary_cross_entropy_with_logits(model(torch.tensor(words)), torch.tensor(labels).float())
            optimizer.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.grad.add_(1e-3 * torch.randn_like(p.grad))
            optimizer.step()
    print(epoch, loss.item())
