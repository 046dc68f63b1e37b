"""Water level of a harbor for the next six hours: windows of three gauges, a dilated convolution net, and yesterday's level."""

import math
import os
import tempfile

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import nn

HISTORY, HORIZON, BATCH = 36, 6, 40
np.random.seed(17)
torch.manual_seed(17)


def gauges(hours):
    t = np.arange(hours)
    moon = 1.2 * np.sin(2 * np.pi * t / 12.42) + 0.4 * np.sin(2 * np.pi * t / 24.84 + 1)
    wind = np.convolve(np.random.randn(hours + 8), np.ones(9) / 3, "valid")
    level = 3 + moon + 0.35 * np.roll(wind, 2) + 0.05 * np.random.randn(hours)
    upstream = 4 + 0.8 * np.roll(moon, -2) + 0.1 * np.random.randn(hours)
    return np.stack([level, wind, upstream], axis=1)


series = gauges(1300)
n_train, n_val = 900, 200
mu, sd = series[:n_train].mean(0), series[:n_train].std(0)
normed = ((series - mu) / sd).astype(np.float32)


def windows(part):
    """(N, 3, HISTORY) and the level of the HORIZON hours that follow."""
    views = sliding_window_view(part, HISTORY + HORIZON, axis=0)  # (N, 3, HISTORY + HORIZON)
    return np.ascontiguousarray(views[:, :, :HISTORY]), np.ascontiguousarray(views[:, 0, HISTORY:])


X_train, Y_train = windows(normed[:n_train])
X_val, Y_val = windows(normed[n_train : n_train + n_val])
X_test, Y_test = windows(normed[n_train + n_val :])


def batches(X, Y, shuffle=False):
    order = np.arange(len(X))
    if shuffle:
        np.random.shuffle(order)
    for i in range(0, len(X), BATCH):
        pick = order[i : i + BATCH]
        yield torch.from_numpy(X[pick]), torch.from_numpy(Y[pick])


class Causal(nn.Module):
    def __init__(self, cin, cout, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(cin, cout, 3, dilation=dilation)
        self.norm = nn.GroupNorm(4, cout)
        self.drop = nn.Dropout(0.1)
        self.skip = nn.Conv1d(cin, cout, 1)

    def forward(self, x):
        h = self.conv(nn.functional.pad(x, (self.left, 0)))
        return self.skip(x) + self.drop(torch.relu(self.norm(h)))


class TideNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.ModuleList([Causal(3 if d == 1 else width, width, d) for d in (1, 2, 4, 8)])
        self.head = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, HORIZON))

    def forward(self, x):
        now = x[:, 0, -1:]
        for layer in self.layers:
            x = layer(x)
        return now + self.head(x[:, :, -1])


def run_epoch(net, loader, optimizer=None):
    net.train(optimizer is not None)
    losses, absolute = [], []
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            pred = net(x)
            loss = nn.functional.mse_loss(pred, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
            losses.append(loss.item())
            absolute.append((pred - y).abs().mean(0).detach().numpy() * sd[0])
    return float(np.mean(losses)), np.mean(absolute, axis=0)


net = TideNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
best, waited, patience = math.inf, 0, 3
path = os.path.join(tempfile.mkdtemp(), "best.pt")
for epoch in range(6):
    train_loss, _ = run_epoch(net, batches(X_train, Y_train, shuffle=True), optimizer)
    val_loss, val_mae = run_epoch(net, batches(X_val, Y_val))
    scheduler.step()
    print(f"{epoch} train {train_loss:.4f} val {val_loss:.4f} cm off per hour", np.round(100 * val_mae, 1))
    if val_loss < best:
        best, waited = val_loss, 0
        torch.save(net.state_dict(), path)
    else:
        waited += 1
        if waited >= patience:
            break
net.load_state_dict(torch.load(path))
test_loss, test_mae = run_epoch(net, batches(X_test, Y_test))
naive = np.abs(X_test[:, 0, -25 : -25 + HORIZON] - Y_test).mean() * sd[0]
print("test", test_loss, test_mae.mean(), "yesterday's level", naive)
