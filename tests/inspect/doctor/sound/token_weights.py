"""Accumulation over texts of different lengths: sums of losses, divided by the tokens of the whole step, not by its parts."""

import random

import torch
from torch import nn

random.seed(1)
torch.manual_seed(1)
V, PAD = 20, 0


def text():
    a, step = random.randrange(1, V), random.choice([1, 2, 3])
    return [1 + (a + step * i) % (V - 1) for i in range(random.randint(4, 16))]


def pad(texts):
    longest = max(len(t) for t in texts)
    return torch.tensor([t + [PAD] * (longest - len(t)) for t in texts])


class Writer(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(V, d, padding_idx=PAD), nn.GRU(d, 2 * d, batch_first=True)
        self.out = nn.Linear(2 * d, V)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


texts, held = [text() for _ in range(600)], pad([text() for _ in range(80)])
writer = Writer()
optimizer = torch.optim.AdamW(writer.parameters(), lr=4e-3)
for step in range(40):
    chosen = random.sample(texts, 32)
    parts = [pad(chosen[i : i + 8]) for i in range(0, 32, 8)]
    tokens = sum((p[:, 1:] != PAD).sum().item() for p in parts)
    for part in parts:
        logits = writer(part[:, :-1])
        total = nn.functional.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), ignore_index=PAD, reduction="sum")
        (total / tokens).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 10 == 9:
        with torch.no_grad():
            guess = writer(held[:, :-1]).argmax(-1)
            real = held[:, 1:] != PAD
            print(step, (guess == held[:, 1:])[real].float().mean().item())
