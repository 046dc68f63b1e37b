"""Flats from 1 to 5 stars: a table with numbers and categories, an ordinal loss (CORAL), early stopping on a held-out part."""

import copy

import numpy as np
import torch
from torch import nn

rng = np.random.RandomState(3)
np.random.seed(3)
torch.manual_seed(3)

# --- a table -----------------------------------------------------------------------------------------------------------
N = 1500
area = rng.lognormal(4.1, 0.4, N)
floor = rng.randint(0, 12, N)
year = rng.randint(1950, 2024, N)
noise_db = rng.normal(55, 9, N)
district = rng.randint(0, 9, N)
heating = rng.randint(0, 4, N)
district_effect = rng.normal(0, 1.0, 9)
heating_effect = np.array([-0.8, -0.1, 0.3, 0.7])
quality = (
    1.2 * (np.log(area) - 4.1) / 0.4
    + 0.8 * (year - 1987) / 21
    - 0.9 * (noise_db - 55) / 9
    + district_effect[district]
    + heating_effect[heating]
    + rng.normal(0, 0.5, N)
)
stars = np.digitize(quality, np.quantile(quality, [0.15, 0.4, 0.65, 0.9]))
numeric = np.stack([area, floor, year, noise_db], axis=1).astype(np.float32)
categories = np.stack([district, heating], axis=1)

# --- split -------------------------------------------------------------------------------------------------------------
order = rng.permutation(N)
train_idx, valid_idx, test_idx = order[:1000], order[1000:1250], order[1250:]
mu, sigma = numeric[train_idx].mean(0), numeric[train_idx].std(0)
numeric = (numeric - mu) / sigma
X_num, X_cat, y = torch.from_numpy(numeric), torch.from_numpy(categories), torch.from_numpy(stars)
K = 5


class Net(nn.Module):
    def __init__(self, n_num, sizes, width=40, drop=0.15):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, 4) for n in sizes])
        self.body = nn.Sequential(
            nn.Linear(n_num + 4 * len(sizes), width), nn.SiLU(), nn.Dropout(drop), nn.Linear(width, width), nn.SiLU()
        )
        self.rank = nn.Linear(width, 1, bias=False)
        self.cuts = nn.Parameter(torch.tensor([1.5, 0.5, -0.5, -1.5]))

    def forward(self, num, cat):
        e = torch.cat([table(cat[:, i]) for i, table in enumerate(self.tables)], dim=1)
        h = self.body(torch.cat([num, e], dim=1))
        return self.rank(h) + self.cuts  # logits that the flat has more than k stars


def levels(labels):
    return (labels[:, None] > torch.arange(K - 1)).float()


def coral(logits, labels):
    return nn.functional.binary_cross_entropy_with_logits(logits, levels(labels))


def predict(logits):
    return (torch.sigmoid(logits) > 0.5).sum(dim=1)


model = Net(4, [9, 4])
optimizer = torch.optim.Adam(
    [
        {"params": model.tables.parameters(), "lr": 1e-2},
        {"params": [*model.body.parameters(), *model.rank.parameters(), model.cuts]},
    ],
    lr=4e-3,
)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=3)
best_mae, best_weights, bad = 99.0, None, 0
for epoch in range(30):
    model.train()
    perm = np.random.permutation(train_idx)
    losses = []
    for start in range(0, len(perm), 100):
        idx = perm[start : start + 100]
        logits = model(X_num[idx], X_cat[idx])
        loss = coral(logits, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        valid_logits = model(X_num[valid_idx], X_cat[valid_idx])
        valid_loss = coral(valid_logits, y[valid_idx]).item()
        mae = (predict(valid_logits) - y[valid_idx]).abs().float().mean().item()
    scheduler.step(valid_loss)
    if mae < best_mae:
        best_mae, best_weights, bad = mae, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad == 8:
            break
    print(f"{epoch:2d} {np.mean(losses):.3f} {valid_loss:.3f} {mae:.3f}")

model.load_state_dict(best_weights)
model.eval()
with torch.no_grad():
    test_mae = (predict(model(X_num[test_idx], X_cat[test_idx])) - y[test_idx]).abs().float().mean()
print("test", test_mae.item())
