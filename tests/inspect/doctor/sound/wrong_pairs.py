"""Do a picture and a text belong together? Wrong pairs are made on purpose by moving the texts on by one row."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)
WORDS, KINDS = 30, 6
words_of = torch.randint(1, WORDS, (KINDS, 5))
look_of = torch.randn(KINDS, 3, 8, 8)


def draw(n):
    kind = torch.randint(0, KINDS, (n,))
    pictures = look_of[kind] + 0.4 * torch.randn(n, 3, 8, 8)
    texts = words_of[kind]
    return pictures, texts.gather(1, torch.rand(n, 5).argsort(1)), kind


class Matcher(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, d))
        self.read = nn.EmbeddingBag(WORDS, d)
        self.judge = nn.Sequential(nn.Linear(2 * d, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, pictures, texts):
        return self.judge(torch.cat([self.see(pictures), self.read(texts)], dim=1)).squeeze(1)


model = Matcher()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(120):
    pictures, texts, kind = draw(48)
    others = torch.roll(texts, 1, dims=0)
    wrong = kind != torch.roll(kind, 1, dims=0)
    logits = torch.cat([model(pictures, texts), model(pictures, others)[wrong]])
    labels = torch.cat([torch.ones(48), torch.zeros(int(wrong.sum()))])
    loss = F.binary_cross_entropy_with_logits(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            p, t, k = draw(60)
            shuffled = torch.randperm(60)
            right = (model(p, t[shuffled]) > 0) == (k == k[shuffled])
        print(step, loss.item(), right.float().mean().item())
