# %% Electricity demand of households, the next 8 hours: an encoder and decoder of LSTMs, three quantiles, teacher forcing
import math
import random

import numpy as np
import torch
from torch import nn

SEED, PAST, AHEAD = 13, 24, 8
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
QUANTILES = torch.tensor([0.1, 0.5, 0.9])

# %% data: hours x houses
hours, houses = 600, 6
t = np.arange(hours)
temperature = 12 + 8 * np.sin(2 * np.pi * t / 24 - 2) + np.cumsum(np.random.randn(hours)) * 0.1
demand = np.stack(
    [
        (2 + 0.4 * h) + np.sin(2 * np.pi * (t - h) / 24) + 0.5 * (np.arange(hours) // 24 % 7 >= 5) - 0.05 * temperature
        + 0.15 * np.random.randn(hours)
        for h in range(houses)
    ],
    axis=1,
)  # fmt: skip
split = 450
mean, std = demand[:split].mean(axis=0), demand[:split].std(axis=0)
t_mean, t_std = temperature[:split].mean(), temperature[:split].std()
scaled = ((demand - mean) / std).astype(np.float32)
clock = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24), (temperature - t_mean) / t_std], axis=1).astype(
    np.float32
)


def sample(first, last, size):
    starts = np.random.randint(first, last - PAST - AHEAD, size)
    who = np.random.randint(0, houses, size)
    past_y = np.stack([scaled[s : s + PAST, h] for s, h in zip(starts, who)])
    future_y = np.stack([scaled[s + PAST : s + PAST + AHEAD, h] for s, h in zip(starts, who)])
    past_x = np.stack([clock[s : s + PAST] for s in starts])
    future_x = np.stack([clock[s + PAST : s + PAST + AHEAD] for s in starts])
    return tuple(torch.from_numpy(a) for a in (past_y, past_x, future_x, future_y)) + (torch.from_numpy(who),)


# %% model
class Forecaster(nn.Module):
    def __init__(self, hidden=32, emb=4):
        super().__init__()
        self.house = nn.Embedding(houses, emb)
        self.encoder = nn.LSTM(1 + 3 + emb, hidden, batch_first=True)
        self.decoder = nn.LSTMCell(1 + 3 + emb, hidden)
        self.out = nn.Linear(hidden, len(QUANTILES))

    def forward(self, past_y, past_x, future_x, who, future_y=None, forcing=0.0):
        e = self.house(who)
        inputs = torch.cat([past_y.unsqueeze(-1), past_x, e.unsqueeze(1).expand(-1, PAST, -1)], dim=-1)
        _, (h, c) = self.encoder(inputs)
        h, c = h[0], c[0]
        last, outs = past_y[:, -1], []
        for k in range(AHEAD):
            h, c = self.decoder(torch.cat([last.unsqueeze(-1), future_x[:, k], e], dim=-1), (h, c))
            q = self.out(h)
            outs.append(q)
            if future_y is not None and random.random() < forcing:
                last = future_y[:, k]
            else:
                last = q[:, 1].detach()
        return torch.stack(outs, dim=1)  # (B, AHEAD, 3)


def pinball(q, y):
    error = y.unsqueeze(-1) - q
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


# %% training
model = Forecaster()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-3)
steps, best = 120, math.inf
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps)
for step in range(steps):
    model.train()
    past_y, past_x, future_x, future_y, who = sample(0, split, 32)
    q = model(past_y, past_x, future_x, who, future_y, forcing=1 - step / steps)
    loss = pinball(q, future_y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            past_y, past_x, future_x, future_y, who = sample(split, hours, 64)
            q = model(past_y, past_x, future_x, who)
            val = pinball(q, future_y).item()
            back = q[..., 1].numpy() * std[who][:, None] + mean[who][:, None]
            truth = future_y.numpy() * std[who][:, None] + mean[who][:, None]
            mae = np.abs(back - truth).mean()
            covered = ((future_y >= q[..., 0]) & (future_y <= q[..., 2])).float().mean().item()
        if val < best:
            best = val
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        print(f"{step:3d} {loss.item():.3f} {val:.3f} mae {mae:.3f} in the band {covered:.2f}")
model.load_state_dict(best_state)
