"""Continuous bag of words: the middle word from those around it, negative words drawn, vectors compared at the end."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(53)
V, D, WINDOW, NEG = 48, 16, 2, 5
topic = torch.arange(V) // 8
text = []
for _ in range(500):
    words = torch.nonzero(topic == int(torch.randint(6, ()))).flatten()
    text += words[torch.randint(len(words), (7,))].tolist()
text = torch.tensor(text)
centers = torch.arange(WINDOW, len(text) - WINDOW)


class CBOW(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.outside = nn.Embedding(V, D), nn.Embedding(V, D)

    def forward(self, context, target, negative):
        h = self.inside(context).mean(dim=1)
        good = (h * self.outside(target)).sum(dim=1)
        bad = torch.bmm(self.outside(negative), h.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(dim=1)).mean()


model = CBOW()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    at = centers[torch.randint(len(centers), (64,))]
    context = torch.stack([text[at + k] for k in (-2, -1, 1, 2)], dim=1)
    loss = model(context, text[at], torch.randint(V, (64, NEG)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        w = F.normalize(model.inside.weight.detach(), dim=1)
        near = (w @ w.t()).fill_diagonal_(-1).argmax(dim=1)
        print(step, loss.item(), (topic[near] == topic).float().mean().item())
