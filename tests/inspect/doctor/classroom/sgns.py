"""Word vectors by negative sampling: two tables, logsigmoid, sparse gradients left out."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(53)
words = torch.cumsum(torch.randint(0, 3, (2000,)), 0) % 50


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.inside, self.outside = nn.Embedding(vocab, dim), nn.Embedding(vocab, dim)
        self.inside.weight.data.uniform_(-0.5 / dim, 0.5 / dim)
        self.outside.weight.data.zero_()

    def forward(self, centre, context, negative):
        c = self.inside(centre)
        good = (c * self.outside(context)).sum(1)
        bad = torch.bmm(self.outside(negative), c.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(1)).mean()


model = SkipGram(50, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(50):
    i = torch.randint(2, 1998, (64,))
    off = torch.randint(1, 3, (64,)) * (torch.randint(0, 2, (64,)) * 2 - 1)
    loss = model(words[i], words[i + off], torch.randint(0, 50, (64, 5)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
