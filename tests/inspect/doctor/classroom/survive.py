"""How long does a machine last? Discrete hazards from a table, with censoring; numpy arrays and early stopping."""

import copy

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(42)
torch.manual_seed(42)
BINS = 10

n = 1500
table = {
    "age": np.random.gamma(4.0, 3.0, n),
    "load": np.random.uniform(0, 100, n),
    "temp": np.random.normal(60, 12, n),
    "site": np.random.choice(["a", "b", "c"], n),
}
of_site = np.array([{"a": 0.0, "b": 0.8, "c": -0.5}[site] for site in table["site"]])
risk = 0.08 * table["age"] + 0.02 * table["load"] + 0.03 * (table["temp"] - 60) + of_site
lifetime = np.random.exponential(12 * np.exp(-(risk - risk.mean())))
censor = np.random.uniform(2, 25, n)
duration = np.minimum(lifetime, censor)
event = (lifetime <= censor).astype(np.float32)
interval = np.clip(np.floor(duration), 0, BINS - 1).astype(np.int64)

numeric = np.stack([table["age"], table["load"], table["temp"]], axis=1).astype(np.float32)
dummies = (table["site"][:, None] == np.array(["a", "b", "c"])).astype(np.float32)
order = np.random.permutation(n)
train_idx, val_idx, test_idx = order[:1000], order[1000:1250], order[1250:]
mean, std = numeric[train_idx].mean(axis=0), numeric[train_idx].std(axis=0)
X = np.concatenate([(numeric - mean) / std, dummies], axis=1).astype(np.float32)


def as_dataset(idx):
    return TensorDataset(torch.from_numpy(X[idx]), torch.from_numpy(interval[idx]), torch.from_numpy(event[idx]))


class Hazards(nn.Module):
    def __init__(self, n_features, hidden=32, p=0.2):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(p), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.head = nn.Linear(hidden, BINS)

    def forward(self, x):
        return self.head(self.body(x))


def hazard_loss(logits, interval, event):
    """Alive in each bin before the last; in the last one dead, or alive where censored."""
    steps = torch.arange(BINS)
    at_risk = (steps <= interval.unsqueeze(1)).float()
    died = (steps == interval.unsqueeze(1)).float() * event.unsqueeze(1)
    each = nn.functional.binary_cross_entropy_with_logits(logits, died, reduction="none")
    return (each * at_risk).sum() / len(logits)


def concordance(score, interval, event):
    first = (interval.unsqueeze(1) < interval) & (event.unsqueeze(1) == 1)
    higher = (score.unsqueeze(1) > score).float()
    return (higher * first).sum() / first.sum()


train_loader = DataLoader(as_dataset(train_idx), batch_size=100, shuffle=True, drop_last=True)
val_loader = DataLoader(as_dataset(val_idx), batch_size=125)
test_loader = DataLoader(as_dataset(test_idx), batch_size=250)
model = Hazards(X.shape[1])
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-2)


def evaluate(loader):
    model.eval()
    losses, scores, bins, events = [], [], [], []
    with torch.no_grad():
        for xb, tb, eb in loader:
            logits = model(xb)
            losses.append(hazard_loss(logits, tb, eb).item())
            scores.append(torch.sigmoid(logits).sum(dim=1))
            bins.append(tb)
            events.append(eb)
    return np.mean(losses), concordance(torch.cat(scores), torch.cat(bins), torch.cat(events)).item()


best, best_state, patience = float("inf"), None, 0
for epoch in range(12):
    model.train()
    for xb, tb, eb in train_loader:
        optimizer.zero_grad()
        loss = hazard_loss(model(xb), tb, eb)
        loss.backward()
        optimizer.step()
    val_loss, val_c = evaluate(val_loader)
    print(f"epoch {epoch}: val loss {val_loss:.4f}, concordance {val_c:.3f}")
    if val_loss < best:
        best, best_state, patience = val_loss, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
        if patience >= 3:
            break
model.load_state_dict(best_state)
print("test", evaluate(test_loader))
