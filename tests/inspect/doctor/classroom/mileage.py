"""Fuel consumption of cars from a table: dataclass config, functions, warmup with a cosine, the best weights kept."""

import argparse
import copy
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 3
    n_cars: int = 1200
    hidden: int = 48
    dropout: float = 0.1
    batch_size: int = 32
    epochs: int = 6
    lr: float = 3e-3
    weight_decay: float = 1e-3
    warmup: int = 20
    patience: int = 3


def make_table(cfg):
    rng = np.random.default_rng(cfg.seed)
    weight = rng.normal(1500, 300, cfg.n_cars)
    power = weight / 12 + rng.normal(0, 20, cfg.n_cars)
    year = rng.integers(1990, 2020, cfg.n_cars)
    cylinders = rng.choice([4, 6, 8], cfg.n_cars, p=[0.6, 0.3, 0.1])
    origin = rng.integers(0, 3, cfg.n_cars)
    consumption = 2 + weight / 250 + power / 60 + 0.5 * cylinders - 0.08 * (year - 1990) + 0.4 * (origin == 0)
    consumption = consumption + rng.normal(0, 0.3, cfg.n_cars)
    onehot = np.eye(3)[origin]
    X = np.column_stack([weight, power, year, cylinders, onehot]).astype(np.float32)
    return X, consumption.astype(np.float32)


def split(X, y, cfg):
    order = np.random.default_rng(cfg.seed + 1).permutation(len(X))
    n_train, n_val = int(0.7 * len(X)), int(0.15 * len(X))
    train, val, test = order[:n_train], order[n_train : n_train + n_val], order[n_train + n_val :]
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - mean) / std
    y_mean, y_std = y[train].mean(), y[train].std()
    y = (y - y_mean) / y_std
    parts = {}
    for name, idx in (("train", train), ("val", val), ("test", test)):
        parts[name] = TensorDataset(torch.from_numpy(X[idx]), torch.from_numpy(y[idx]))
    return parts, float(y_std)


class Regressor(nn.Module):
    def __init__(self, n_in, cfg):
        super().__init__()
        self.inp = nn.Linear(n_in, cfg.hidden)
        self.blocks = nn.ModuleList()
        for _ in range(2):
            self.blocks.append(
                nn.Sequential(
                    nn.LayerNorm(cfg.hidden),
                    nn.Linear(cfg.hidden, 2 * cfg.hidden),
                    nn.GELU(),
                    nn.Dropout(cfg.dropout),
                    nn.Linear(2 * cfg.hidden, cfg.hidden),
                )
            )
        self.out = nn.Linear(cfg.hidden, 1)

    def forward(self, x):
        h = self.inp(x)
        for block in self.blocks:
            h = h + block(h)
        return self.out(h).squeeze(-1)


def train_epoch(model, loader, optimizer, scheduler, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        prediction = model(x)
        loss = criterion(prediction, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, scale):
    model.eval()
    squared = absolute = 0.0
    for x, y in loader:
        error = model(x) - y
        squared += error.pow(2).sum().item()
        absolute += error.abs().sum().item()
    n = len(loader.dataset)
    return squared / n, absolute / n * scale


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=Config.epochs)
    parser.add_argument("--lr", type=float, default=Config.lr)
    args = parser.parse_args()
    cfg = Config(epochs=args.epochs, lr=args.lr)
    torch.manual_seed(cfg.seed)
    X, y = make_table(cfg)
    parts, y_std = split(X, y, cfg)
    loaders = {name: DataLoader(part, cfg.batch_size, shuffle=name == "train") for name, part in parts.items()}
    model = Regressor(X.shape[1], cfg)
    decay = [p for p in model.parameters() if p.ndim >= 2]
    no_decay = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decay, "weight_decay": cfg.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=cfg.lr)
    total_steps = cfg.epochs * len(loaders["train"])

    def factor(step):
        if step < cfg.warmup:
            return (step + 1) / cfg.warmup
        done = (step - cfg.warmup) / max(1, total_steps - cfg.warmup)
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    criterion = nn.MSELoss()
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(cfg.epochs):
        train_loss = train_epoch(model, loaders["train"], optimizer, scheduler, criterion)
        val_loss, val_mae = evaluate(model, loaders["val"], y_std)
        print(f"epoch {epoch}: train {train_loss:.4f} val {val_loss:.4f} mae {val_mae:.2f} l/100km")
        if val_loss < best:
            best, best_state, waited = val_loss, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= cfg.patience:
                break
    model.load_state_dict(best_state)
    print("test", evaluate(model, loaders["test"], y_std))


if __name__ == "__main__":
    main()
