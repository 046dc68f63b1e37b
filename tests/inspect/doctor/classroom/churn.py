"""Customers who leave: columns of kinds and numbers as tokens of a Transformer, weights for the rare class, patience, AUC."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

config = dict(dim=24, heads=2, depth=2, batch=64, lr=1e-3, epochs=6, patience=2, seed=13)
rng = np.random.default_rng(config["seed"])
torch.manual_seed(config["seed"])
n = 2000
kinds = np.stack([rng.integers(0, k, n) for k in (4, 3, 7)], axis=1)
numbers = np.stack([rng.gamma(2.0, 20.0, n), rng.normal(40, 12, n), rng.exponential(3.0, n), rng.normal(0, 1, n)], axis=1)
score = 0.9 * (kinds[:, 0] == 2) - 0.02 * numbers[:, 0] + 0.5 * numbers[:, 2] - 2.2 + 0.3 * rng.normal(size=n)
left = (rng.random(n) < 1 / (1 + np.exp(-2 * score))).astype(np.float32)

cut1, cut2 = 1400, 1700
mean, std = numbers[:cut1].mean(axis=0), numbers[:cut1].std(axis=0)
numbers = ((numbers - mean) / std).astype(np.float32)


def dataset(a, b):
    return TensorDataset(torch.from_numpy(kinds[a:b]), torch.from_numpy(numbers[a:b]), torch.from_numpy(left[a:b]))


train_loader = DataLoader(dataset(0, cut1), batch_size=config["batch"], shuffle=True, drop_last=True)
val_loader = DataLoader(dataset(cut1, cut2), batch_size=256)
test_loader = DataLoader(dataset(cut2, n), batch_size=256)


class TabTransformer(nn.Module):
    def __init__(self, cardinalities, n_numbers, dim, heads, depth):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(k, dim) for k in cardinalities])
        self.scale = nn.Parameter(torch.randn(n_numbers, dim) * 0.2)
        self.shift = nn.Parameter(torch.zeros(n_numbers, dim))
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.2)
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, kinds, numbers):
        tokens = [e(kinds[:, i]) for i, e in enumerate(self.embeddings)]
        tokens = torch.stack(tokens, dim=1)
        tokens = torch.cat([tokens, numbers.unsqueeze(-1) * self.scale + self.shift], dim=1)
        x = torch.cat([self.cls.expand(len(tokens), -1, -1), tokens], dim=1)
        return self.head(self.encoder(x)[:, 0]).squeeze(-1)


def auc(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels > 0.5
    return (ranks[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    for k, x, y in loader:
        scores.append(torch.sigmoid(model(k, x)).numpy())
        labels.append(y.numpy())
    return auc(np.concatenate(scores), np.concatenate(labels))


model = TabTransformer((4, 3, 7), 4, config["dim"], config["heads"], config["depth"])
rare = left[:cut1].mean()
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor((1 - rare) / rare))
optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], weight_decay=1e-2)
best, wait = 0.0, 0
for epoch in range(config["epochs"]):
    model.train()
    losses = []
    for k, x, y in train_loader:
        loss = criterion(model(k, x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    val_auc = evaluate(model, val_loader)
    print(f"{epoch}: loss {np.mean(losses):.3f}, AUC {val_auc:.3f}")
    if val_auc > best:
        best, wait = val_auc, 0
        best_state = {name: t.clone() for name, t in model.state_dict().items()}
    else:
        wait += 1
        if wait >= config["patience"]:
            break
model.load_state_dict(best_state)
print("test AUC", evaluate(model, test_loader))
