"""Power of the next six hours: an encoder and a decoder of GRUs, min-max scaling, teacher forcing by chance, MAE in kW."""

import math
import random

import torch
import torch.nn as nn

HISTORY, HORIZON, HIDDEN = 24, 6, 32


def generate(hours=1200):
    t = torch.arange(float(hours))
    day = torch.sin(2 * math.pi * t / 24)
    week = (t // 24 % 7 >= 5).float()
    load = 50 + 20 * day - 8 * week + 2 * torch.randn(hours)
    temp = 12 + 6 * torch.sin(2 * math.pi * (t - 4) / 24) + torch.randn(hours)
    return torch.stack([load, temp], dim=1)


class MinMax:
    def fit(self, x):
        self.low, self.high = x.min(0).values, x.max(0).values
        return self

    def transform(self, x):
        return (x - self.low) / (self.high - self.low)

    def back(self, y):
        return y * (self.high[0] - self.low[0]) + self.low[0]


def windows(series):
    xs, ys = [], []
    for i in range(len(series) - HISTORY - HORIZON):
        xs.append(series[i : i + HISTORY])
        ys.append(series[i + HISTORY : i + HISTORY + HORIZON, 0])
    return torch.stack(xs), torch.stack(ys)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, HIDDEN, batch_first=True)

    def forward(self, x):
        _, h = self.gru(x)
        return h


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(1, HIDDEN)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, value, h):
        h = self.cell(value, h)
        return self.out(self.drop(h)), h


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def forward(self, x, y=None, ratio=0.0):
        h = self.encoder(x)[-1]
        value = x[:, -1, :1]
        steps = []
        for t in range(HORIZON):
            value, h = self.decoder(value, h)
            steps.append(value)
            if y is not None and random.random() < ratio:
                value = y[:, t : t + 1]
        return torch.cat(steps, dim=1)


def train_one_epoch(model, x, y, optimizer, criterion, ratio):
    model.train()
    total = 0.0
    order = torch.randperm(len(x))
    for i in range(0, len(x), 64):
        rows = order[i : i + 64]
        optimizer.zero_grad()
        output = model(x[rows], y[rows], ratio)
        loss = criterion(output, y[rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(x)


@torch.no_grad()
def mae(model, x, y, scaler):
    model.eval()
    return (scaler.back(model(x)) - scaler.back(y)).abs().mean().item()


def main():
    random.seed(8)
    torch.manual_seed(8)
    series = generate()
    train, valid, test = series[:800], series[800:1000], series[1000:]
    scaler = MinMax().fit(train)
    x_train, y_train = windows(scaler.transform(train))
    x_valid, y_valid = windows(scaler.transform(valid))
    x_test, y_test = windows(scaler.transform(test))
    model = Forecaster()
    criterion = nn.L1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    for epoch in range(3):
        loss = train_one_epoch(model, x_train, y_train, optimizer, criterion, ratio=0.5)
        scheduler.step()
        print(f"epoch {epoch}: loss {loss:.4f}, validation MAE {mae(model, x_valid, y_valid, scaler):.2f} kW")
    print(f"test MAE {mae(model, x_test, y_test, scaler):.2f} kW")


main()
