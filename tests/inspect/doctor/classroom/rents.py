"""Rents of flats by a network with embeddings: five folds, early stopping in each, logarithms of rents, an ensemble at the end."""

import copy

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(3)
torch.manual_seed(3)
N = 1300
district, kind, floor = rng.integers(0, 12, N), rng.integers(0, 4, N), rng.integers(0, 8, N)
area, age, walk = rng.uniform(20, 140, N), rng.uniform(0, 80, N), rng.exponential(600, N)
log_rent = (
    np.log(area) * 0.8 + 0.1 * rng.standard_normal(12)[district] + np.array([0, 0.1, 0.2, -0.1])[kind] - 0.003 * age - walk / 8000
)
rent = np.exp(3.2 + log_rent + 0.05 * rng.standard_normal(N))
cats = np.stack([district, kind, floor], axis=1)
nums = np.stack([area, age, walk], axis=1)
SIZES = [12, 4, 8]

holdout = rng.permutation(N)[:200]
rest = np.setdiff1d(np.arange(N), holdout)


class RentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(n, min(8, n // 2 + 1)) for n in SIZES])
        width = sum(e.embedding_dim for e in self.embeddings)
        self.bn = nn.BatchNorm1d(3)
        self.layers = nn.Sequential(
            nn.Linear(width + 3, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Dropout(0.1),
            nn.Linear(64, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Dropout(0.1), nn.Linear(32, 1),
        )  # fmt: skip

    def forward(self, cats, nums):
        x = torch.cat([e(cats[:, i]) for i, e in enumerate(self.embeddings)], dim=1)
        return self.layers(torch.cat([x, self.bn(nums)], dim=1)).squeeze(-1)


def tensors(rows, mean, std):
    numbers = torch.tensor((nums[rows] - mean) / std, dtype=torch.float32)
    target = torch.tensor(np.log(rent[rows]) - 6.5, dtype=torch.float32)
    return torch.tensor(cats[rows]), numbers, target


def fit(train_rows, valid_rows, epochs=5, patience=2):
    mean, std = nums[train_rows].mean(axis=0), nums[train_rows].std(axis=0)
    train_loader = DataLoader(TensorDataset(*tensors(train_rows, mean, std)), batch_size=64, shuffle=True, drop_last=True)
    valid_loader = DataLoader(TensorDataset(*tensors(valid_rows, mean, std)), batch_size=256)
    model = RentNet()
    criterion = nn.HuberLoss(delta=0.5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    best, best_state, bad = float("inf"), None, 0
    for _ in range(epochs):
        model.train()
        for c, n, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(c, n), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        model.eval()
        errors = []
        with torch.no_grad():
            for c, n, y in valid_loader:
                errors.append((model(c, n) - y).abs())
        error = torch.cat(errors).mean().item()
        if error < best:
            best, best_state, bad = error, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad > patience:
                break
    model.load_state_dict(best_state)
    return model, (mean, std), best


models = []
folds = np.array_split(rng.permutation(rest), 5)
for k in range(5):
    train_rows = np.concatenate([f for i, f in enumerate(folds) if i != k])
    model, scale, best = fit(train_rows, folds[k])
    models.append((model, scale))
    print(f"fold {k}: off by {np.expm1(best):.1%}")

answers = []
for model, (mean, std) in models:
    model.eval()
    with torch.no_grad():
        c, n, y = tensors(holdout, mean, std)
        answers.append(model(c, n))
together = torch.stack(answers).mean(dim=0)
print(f"held out: off by {np.expm1((together - y).abs().mean().item()):.1%}")
