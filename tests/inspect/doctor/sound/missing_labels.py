"""Three measurements and a class for each row, many of them missing; rare classes are drawn more often."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

rng = np.random.default_rng(6)
torch.manual_seed(6)
features = rng.normal(size=(700, 9)).astype("float32")
clean = features @ rng.normal(size=(9, 3)).astype("float32") / 3
targets = clean + 0.1 * rng.normal(size=clean.shape).astype("float32")
targets[rng.random(targets.shape) < 0.4] = np.nan
kind = np.digitize(clean[:, 0], [0.8, 1.3])
shown = np.where(rng.random(700) < 0.3, -100, kind)
x, t, k = torch.from_numpy(features), torch.from_numpy(targets.astype("float32")), torch.from_numpy(shown)

train = TensorDataset(x[:560], t[:560], k[:560])
often = torch.bincount(k[:560].clamp(min=0), minlength=3).float()
sampler = WeightedRandomSampler((1 / often)[k[:560].clamp(min=0)].sqrt(), num_samples=560)
loader = DataLoader(train, batch_size=56, sampler=sampler)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 40), nn.LayerNorm(40), nn.GELU(), nn.Linear(40, 40), nn.GELU())
        self.numbers, self.kinds = nn.Linear(40, 3), nn.Linear(40, 3)

    def forward(self, x):
        h = self.trunk(x)
        return self.numbers(h), self.kinds(h)


def losses(model, x, t, k):
    guess, logits = model(x)
    there = ~torch.isnan(t)
    numbers = F.smooth_l1_loss(guess[there], t[there])
    kinds = F.cross_entropy(logits, k, ignore_index=-100, label_smoothing=0.05)
    return numbers, kinds


model = TwoHeads()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(5):
    for xb, tb, kb in loader:
        numbers, kinds = losses(model, xb, tb, kb)
        loss = numbers + 0.5 * kinds
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        n, c = losses(model, x[560:], t[560:], k[560:])
    print(epoch, loss.item(), n.item(), c.item())
