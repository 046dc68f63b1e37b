"""Bagging: each net draws rows with replacement, is judged on the rows it never drew; stacking by a linear model of their votes."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(21)
torch.manual_seed(21)
x = rng.uniform(-2, 2, (900, 3))
y = np.sin(2 * x[:, 0]) + x[:, 1] ** 2 * 0.3 - 0.5 * x[:, 2] + 0.1 * rng.standard_normal(900)
test_x, test_y = torch.tensor(x[700:]).float(), torch.tensor(y[700:]).float()
x, y = x[:700], y[:700]
outside = np.full((700, 4), np.nan)
nets = []
for k in range(4):
    drawn = rng.integers(0, 700, 700)
    never = np.setdiff1d(np.arange(700), drawn)
    bx, by = torch.tensor(x[drawn]).float(), torch.tensor(y[drawn]).float().unsqueeze(1)
    net = nn.Sequential(nn.Linear(3, 40), nn.Softplus(), nn.Linear(40, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(6):
        for rows in np.split(rng.permutation(700), 10):
            rows = torch.from_numpy(rows)
            loss = nn.functional.huber_loss(net(bx[rows]), by[rows], delta=0.5)
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        outside[never, k] = net(torch.tensor(x[never]).float()).squeeze(1).numpy()
    nets.append(net)
    print(k, loss.item(), np.nanmean((outside[:, k] - y) ** 2))
votes = torch.tensor(np.where(np.isnan(outside), np.nanmean(outside, axis=1, keepdims=True), outside)).float()
known = ~torch.isnan(votes).any(1)
stack = nn.Linear(4, 1)
opt = torch.optim.Adam(stack.parameters(), lr=0.02)
for _ in range(60):
    loss = nn.functional.mse_loss(stack(votes[known]).squeeze(1), torch.tensor(y).float()[known])
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    answer = stack(torch.cat([net(test_x) for net in nets], dim=1)).squeeze(1)
print(
    "test",
    nn.functional.mse_loss(answer, test_y).item(),
    "mean of all",
    ((answer * 0 + test_y.mean()) - test_y).pow(2).mean().item(),
)
