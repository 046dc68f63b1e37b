"""Power of a turbine from the last 32 readings: dilated convolutions, bfloat16 autocast with a GradScaler."""

import numpy as np
import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, Dataset

WINDOW = 32


def readings(hours, seed):
    rng = np.random.default_rng(seed)
    wind = np.zeros(hours)
    for t in range(1, hours):
        wind[t] = 0.95 * wind[t - 1] + rng.normal(0, 0.5)
    speed = 8 + 2 * wind
    heat = 12 + 5 * np.sin(np.arange(hours) / 24 * 2 * np.pi) + rng.normal(0, 1, hours)
    power = 3.2 / (1 + np.exp(-(speed - 9))) + rng.normal(0, 0.05, hours)
    return np.stack([speed, heat, power], axis=1).astype(np.float32)


class Windows(Dataset):
    def __init__(self, table, mean, std):
        self.table = torch.tensor((table - mean) / std)

    def __len__(self):
        return len(self.table) - WINDOW

    def __getitem__(self, i):
        return self.table[i : i + WINDOW], self.table[i + WINDOW, 2]


class Causal(nn.Module):
    def __init__(self, inner, outer, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(inner, outer, 3, dilation=dilation)
        self.skip = nn.Conv1d(inner, outer, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = nn.functional.pad(x, (self.left, 0))
        return self.drop(torch.relu(self.conv(h))) + self.skip(x)


class TCN(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.layers = nn.ModuleList([Causal(3 if i == 0 else channels, channels, 2**i) for i in range(4)])
        self.out = nn.Linear(channels, 1)

    def forward(self, x):
        x = x.transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.out(x[:, :, -1]).squeeze(-1)


def fit(config):
    torch.manual_seed(config["seed"])
    table = readings(900, config["seed"])
    train_part, valid_part, test_part = table[:600], table[600:750], table[750:]
    mean, std = train_part.mean(0), train_part.std(0)
    train_loader = DataLoader(Windows(train_part, mean, std), batch_size=config["batch"], shuffle=True, drop_last=True)
    valid_loader = DataLoader(Windows(valid_part, mean, std), batch_size=64)
    test_loader = DataLoader(Windows(test_part, mean, std), batch_size=64)
    model = TCN()
    criterion = nn.HuberLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    scaler = GradScaler("cpu")

    def rmse(loader):
        model.eval()
        squares = []
        with torch.no_grad():
            for x, y in loader:
                squares.append((model(x) - y).pow(2))
        return float(torch.cat(squares).mean().sqrt() * std[2])

    best, kept = float("inf"), None
    for epoch in range(config["epochs"]):
        model.train()
        running = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            with autocast("cpu", dtype=torch.bfloat16):
                guess = model(x)
            loss = criterion(guess.float(), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            running += loss.item()
        error = rmse(valid_loader)
        plateau.step(error)
        if error < best:
            best, kept = error, {name: value.clone() for name, value in model.state_dict().items()}
        print(f"{epoch}: loss {running / len(train_loader):.4f}, RMSE {error:.3f} MW")
    model.load_state_dict(kept)
    return rmse(test_loader)


print("test", fit({"seed": 81, "batch": 20, "lr": 3e-3, "epochs": 3}))
