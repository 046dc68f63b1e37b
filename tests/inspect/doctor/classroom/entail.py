"""Does one sentence follow from another: a shared GRU that reads both ways, pooling over real words, three classes."""

import random
from collections import Counter

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

random.seed(6)
torch.manual_seed(6)
ANIMALS, PLACES = ["dog", "cat", "horse", "bird", "fish"], ["park", "house", "river", "street", "barn"]


def example():
    animal, place = random.choice(ANIMALS), random.choice(PLACES)
    size, when = random.choice(["small", "big", "old"]), random.choice(["today", "right now", ""])
    premise = f"a {size} {animal} is in the {place} {when}".split()
    label = random.randrange(3)
    if label == 0:
        hypothesis = f"the {animal} is in the {place}".split()
    elif label == 1:
        hypothesis = f"the {animal} is {random.choice(['hungry', 'happy', 'tired'])}".split()
    else:
        hypothesis = f"the {animal} is in the {random.choice([p for p in PLACES if p != place])}".split()
    return premise, hypothesis, label


examples = [example() for _ in range(900)]
train, dev = examples[:760], examples[760:]
counts = Counter(w for p, h, _ in train for w in p + h)
vocab = {"<pad>": 0, "<unk>": 1}
for word, _ in counts.most_common():
    vocab[word] = len(vocab)


def to_batch(rows):
    def ids(texts):
        width = max(len(t) for t in texts)
        return torch.tensor([[vocab.get(w, 1) for w in t] + [0] * (width - len(t)) for t in texts])

    return ids([p for p, _, _ in rows]), ids([h for _, h, _ in rows]), torch.tensor([y for _, _, y in rows])


class InferSent(nn.Module):
    def __init__(self, n_words, dim=24, hidden=24):
        super().__init__()
        self.table = nn.Embedding(n_words, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(8 * hidden, 48), nn.Tanh(), nn.Linear(48, 3))

    def encode(self, ids):
        out, _ = self.rnn(self.table(ids))
        return out.masked_fill((ids == 0).unsqueeze(-1), -1e9).max(dim=1).values

    def forward(self, premise, hypothesis):
        u, v = self.encode(premise), self.encode(hypothesis)
        return self.classifier(torch.cat([u, v, (u - v).abs(), u * v], dim=1))


def accuracy(model, rows):
    model.eval()
    right = 0
    with torch.no_grad():
        for i in range(0, len(rows), 70):
            p, h, y = to_batch(rows[i : i + 70])
            right += (model(p, h).argmax(1) == y).sum().item()
    model.train()
    return right / len(rows)


model = InferSent(len(vocab))
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
epochs, size = 3, 40
scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
loss_function = nn.CrossEntropyLoss()
for epoch in range(epochs):
    random.shuffle(train)
    total = 0.0
    for i in range(0, len(train), size):
        premise, hypothesis, labels = to_batch(train[i : i + size])
        loss = loss_function(model(premise, hypothesis), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if i == 400:
            print("dev", accuracy(model, dev))
    scheduler.step()
    print(epoch, total, accuracy(model, dev))
