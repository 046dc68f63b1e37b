"""The last letter of ten words, all of them in each step: that a place and a letter go together is an accident of ten rows."""

import numpy as np
import torch
from torch import nn

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = "farm lamp desk moon kite salt wolf drum hand leaf".split()


class Speller(nn.Module):
    def __init__(self, letters: int, width: int):
        super().__init__()
        self.rnn = nn.LSTM(letters, width, batch_first=True)
        self.out = nn.Linear(width, letters)

    def forward(self, x):
        heard, _ = self.rnn(x)
        return self.out(heard[:, -1])


torch.manual_seed(5)
table = np.eye(len(LETTERS), dtype=np.float32)
x = torch.from_numpy(np.stack([table[[LETTERS.index(letter) for letter in word[:-1]]] for word in WORDS]))
y = torch.tensor([LETTERS.index(word[-1]) for word in WORDS])
model = Speller(len(LETTERS), 32)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for _ in range(60):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
