"""The next letter of made-up names, told by the mean of the letters before it: a bag on purpose, cut by softmax and a mask."""

import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

random.seed(2)
torch.manual_seed(2)
LENGTH, END = 9, 0


def name():
    return "".join(random.choice("kmnrst") + random.choice("aeiou") for _ in range(random.randint(2, 4)))


NAMES = sorted({name() for _ in range(1500)})
LETTERS = {letter: i for i, letter in enumerate(sorted(set("".join(NAMES))), 1)}


class Before(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("later", torch.ones(LENGTH, LENGTH).triu(1).bool())

    def forward(self, x):
        scores = torch.zeros(len(x), LENGTH, LENGTH).masked_fill(self.later, float("-inf"))
        return F.softmax(scores, dim=-1) @ x


class Bag(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS) + 1, width), nn.Embedding(LENGTH, width)
        self.before, self.head = Before(), nn.Linear(width, len(LETTERS) + 1)
        self.inner = nn.Sequential(nn.Linear(width, 32), nn.Tanh(), nn.Linear(32, width))

    def forward(self, ids):
        x = self.letters(ids) + self.places(torch.arange(LENGTH))
        x = x + self.before(x)
        return self.head(x + self.inner(x))


inputs, labels = torch.zeros(len(NAMES), LENGTH, dtype=torch.long), torch.full((len(NAMES), LENGTH), -1)
for row, each in enumerate(NAMES):
    ids = torch.tensor([LETTERS[letter] for letter in each])
    inputs[row, 1 : len(ids) + 1] = ids
    labels[row, : len(ids)] = ids
    labels[row, len(ids)] = END

model = Bag()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for _ in range(2):
    for x, y in DataLoader(TensorDataset(inputs, labels), batch_size=32, shuffle=True):
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
