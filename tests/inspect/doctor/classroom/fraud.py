"""Rare frauds among transactions: a weight for the few, scaled by the training part, recall and precision by a threshold."""

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
rng = np.random.default_rng(3)
n = 1500
X = rng.normal(size=(n, 12)).astype("float32") * rng.uniform(0.5, 3, 12).astype("float32")
score = X[:, 0] + 0.7 * X[:, 3] * X[:, 5] + rng.normal(size=n) * 0.3
y = (score > np.quantile(score, 0.92)).astype("float32")
cut = 1100
mean, std = X[:cut].mean(axis=0), X[:cut].std(axis=0)
X = (X - mean) / std
train_ds = TensorDataset(torch.from_numpy(X[:cut]), torch.from_numpy(y[:cut]).unsqueeze(1))
test_ds = TensorDataset(torch.from_numpy(X[cut:]), torch.from_numpy(y[cut:]).unsqueeze(1))
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=200)


class FraudNet(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.fc1, self.bn1, self.fc2 = nn.Linear(n_features, 32), nn.BatchNorm1d(32), nn.Linear(32, 16)
        self.out, self.dropout = nn.Linear(16, 1), nn.Dropout(0.2)

    def forward(self, x):
        x = self.dropout(torch.relu(self.bn1(self.fc1(x))))
        x = torch.relu(self.fc2(x))
        return self.out(x)


net = FraudNet(12)
pos_weight = torch.tensor([(1 - y[:cut].mean()) / y[:cut].mean()])
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(3):
    net.train()
    epoch_loss = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        logits = net(xb)
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb)
    net.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            pred = torch.sigmoid(net(xb)) > 0.5
            tp += (pred & (yb == 1)).sum().item()
            fp += (pred & (yb == 0)).sum().item()
            fn += (~pred & (yb == 1)).sum().item()
    print(epoch, epoch_loss / cut, tp / max(1, tp + fp), tp / max(1, tp + fn))
