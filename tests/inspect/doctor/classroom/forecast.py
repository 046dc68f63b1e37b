"""An LSTM forecasts a series: split by time, scaled by the mean and spread of the training part."""

import argparse

import numpy as np
import torch
from torch import nn


def windows(series, length):
    x = np.stack([series[i : i + length] for i in range(len(series) - length)])
    y = series[length:]
    return torch.tensor(x, dtype=torch.float32).unsqueeze(-1), torch.tensor(y, dtype=torch.float32).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.linear(out[:, -1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    series = np.sin(np.arange(400) / 7) * 20 + 50 + rng.normal(0, 1, 400)
    cut = 320
    mean, std = series[:cut].mean(), series[:cut].std()
    series = (series - mean) / std
    x_train, y_train = windows(series[:cut], 12)
    x_test, y_test = windows(series[cut:], 12)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.MSELoss()
    for epoch in range(args.epochs):
        model.train()
        for i in torch.randperm(len(x_train)).split(32):
            optimizer.zero_grad()
            loss = loss_fn(model(x_train[i]), y_train[i])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            test_loss = loss_fn(model(x_test), y_test)
        print(epoch, loss.item(), test_loss.item())


if __name__ == "__main__":
    main()
