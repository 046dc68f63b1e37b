"""How much water a town will draw in the next six hours: an encoder and decoder of GRUs, scheduled teacher forcing, covariates."""

import math
import random

import numpy as np
import torch
from torch import nn

SEED = 2024
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
PAST, AHEAD = 24, 6

hours = np.arange(1400)
draw = 400 + 120 * np.sin(2 * math.pi * hours / 24) + 60 * np.sin(2 * math.pi * hours / 168) + 20 * np.random.randn(len(hours))
warmth = 15 + 8 * np.sin(2 * math.pi * (hours - 4) / 24) + 2 * np.random.randn(len(hours))
draw = draw + 6 * warmth
clock = np.stack([np.sin(2 * math.pi * hours / 24), np.cos(2 * math.pi * hours / 24)], axis=1)
split = 1100
draw_mean, draw_std = draw[:split].mean(), draw[:split].std()
warm_mean, warm_std = warmth[:split].mean(), warmth[:split].std()
table = np.column_stack([(draw - draw_mean) / draw_std, (warmth - warm_mean) / warm_std, clock]).astype(np.float32)


def windows(part):
    past, known, future = [], [], []
    for i in range(len(part) - PAST - AHEAD):
        past.append(part[i : i + PAST])
        known.append(part[i + PAST : i + PAST + AHEAD, 2:])
        future.append(part[i + PAST : i + PAST + AHEAD, 0])
    return [torch.from_numpy(np.stack(each)) for each in (past, known, future)]


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(4, width, num_layers=2, dropout=0.1, batch_first=True)

    def forward(self, past):
        _, hidden = self.gru(past)
        return hidden


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(3, width, num_layers=2, dropout=0.1, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, last, known, hidden):
        states, hidden = self.gru(torch.cat([last, known], dim=-1).unsqueeze(1), hidden)
        return self.out(states[:, 0]), hidden


class Forecaster(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder, self.decoder = Encoder(width), Decoder(width)

    def forward(self, past, known, future=None, forcing=0.0):
        hidden = self.encoder(past)
        last = past[:, -1, :1]
        answers = []
        for step in range(AHEAD):
            guess, hidden = self.decoder(last, known[:, step], hidden)
            answers.append(guess)
            if future is not None and random.random() < forcing:
                last = future[:, step : step + 1]
            else:
                last = guess
        return torch.cat(answers, dim=1)


def batches(data, size, shuffle):
    order = torch.randperm(len(data[0])) if shuffle else torch.arange(len(data[0]))
    for rows in order.split(size):
        yield tuple(each[rows] for each in data)


def mae(model, data):
    model.eval()
    errors = []
    with torch.no_grad():
        for past, known, future in batches(data, 128, shuffle=False):
            guess = model(past, known)
            errors.append((guess - future).abs().mean(dim=1))
    return torch.cat(errors).mean().item() * draw_std


train_data, test_data = windows(table[:split]), windows(table[split:])
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
criterion = nn.MSELoss()
for epoch in range(4):
    model.train()
    forcing = max(0.0, 0.8 - 0.2 * epoch)
    losses = []
    for past, known, future in batches(train_data, 64, shuffle=True):
        optimizer.zero_grad()
        guess = model(past, known, future, forcing)
        loss = criterion(guess, future)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    error = mae(model, test_data)
    plateau.step(error)
    print(f"epoch {epoch} forcing {forcing:.1f} loss {np.mean(losses):.4f} off by {error:.1f} m3 an hour")
