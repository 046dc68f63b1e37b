"""Lookahead around AdamW, a curriculum of lengths, an unlikelihood term: a GRU that continues periodic strings."""

import random

import torch
from torch import nn
from torch.nn import functional as F

random.seed(10)
torch.manual_seed(10)
LETTERS = 9  # 0 begins


def periodic(length, n=24):
    rows = []
    for _ in range(n):
        period = [random.randint(1, LETTERS - 1) for _ in range(random.choice([2, 3]))]
        rows.append([0] + (period * length)[: length - 1])
    return torch.tensor(rows)


class Letters(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.table = nn.Embedding(LETTERS, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, LETTERS)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.table(ids), state)
        return self.out(h), state


class Lookahead:
    """Every k steps the slow weights move half of the way to the fast ones, and the fast ones begin there again."""

    def __init__(self, params, inner, k=5, alpha=0.5):
        self.params, self.inner, self.k, self.alpha, self.n = list(params), inner, k, alpha, 0
        self.slow = [p.detach().clone() for p in self.params]

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        self.inner.step()
        self.n += 1
        if self.n % self.k == 0:
            with torch.no_grad():
                for p, s in zip(self.params, self.slow):
                    s.add_(p - s, alpha=self.alpha)
                    p.copy_(s)


model = Letters()
opt = Lookahead(model.parameters(), torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01))
for step in range(90):
    ids = periodic(8 + step // 15 * 2)
    logits, _ = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    never = F.softmax(logits, dim=-1)[..., 0].clamp(max=1 - 1e-6)  # the beginning never comes again
    loss = loss - 0.1 * torch.log1p(-never).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 14:
        print(step, loss.item())
with torch.no_grad():
    ids, state, said = torch.tensor([[0, 3, 5, 3, 5]]), None, []
    logits, state = model(ids)
    for _ in range(8):
        token = torch.multinomial(logits[:, -1].softmax(-1), 1)
        said.append(token.item())
        logits, state = model(token, state)
print(said)
