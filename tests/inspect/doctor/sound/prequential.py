"""A stream: each batch is tested before it is learnt from, and never seen again; the importance of columns by permuting them."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
rng = np.random.default_rng(2)
drift = np.linspace(0, 1, 60)


def arrives(t):
    x = rng.standard_normal((64, 6)).astype(np.float32)
    w = np.array([2.0, -1.0, 1.0 - drift[t], drift[t], 0.0, 0.5])
    return torch.from_numpy(x), torch.from_numpy((x @ w + 0.3 * rng.standard_normal(64) > 0).astype(np.float32))


model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scores, memory = [], []
for t in range(60):
    x, y = arrives(t)
    model.eval()
    with torch.no_grad():
        scores.append(((model(x).squeeze(1) > 0) == y.bool()).float().mean().item())
    model.train()
    memory = [*memory[-3:], (x, y)]
    for old_x, old_y in memory:
        loss = nn.functional.binary_cross_entropy_with_logits(model(old_x).squeeze(1), old_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if t % 10 == 9:
        model.eval()
        fresh_x, fresh_y = arrives(t)
        with torch.no_grad():
            base = ((model(fresh_x).squeeze(1) > 0) == fresh_y.bool()).float().mean().item()
            drops = []
            for column in range(6):
                spoilt = fresh_x.clone()
                spoilt[:, column] = spoilt[torch.randperm(64), column]
                drops.append(base - ((model(spoilt).squeeze(1) > 0) == fresh_y.bool()).float().mean().item())
        print(t, loss.item(), np.mean(scores[-10:]), np.round(drops, 2))
