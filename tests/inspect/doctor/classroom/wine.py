"""Good or bad wine of eleven numbers, one in five good: a focal loss of one's own, standardised columns, batches by hand."""

import numpy as np
import torch
import torch.nn as nn

np.random.seed(21)
torch.manual_seed(21)

N = 1500
acid, sugar = np.random.gamma(4, 2, N), np.random.gamma(2, 3, N)
others = np.random.randn(N, 9) * np.arange(1, 10) + np.arange(9)
score = 0.3 * (acid - 8) - 0.2 * (sugar - 6) + 0.15 * (others[:, 2] - 2) * np.sign(others[:, 4] - 4) + 0.3 * np.random.randn(N)
good = (score > np.quantile(score, 0.8)).astype(np.float32)
table = np.column_stack([acid, sugar, others]).astype(np.float32)

perm = np.random.permutation(N)
train_idx, val_idx = perm[:1100], perm[1100:]
mu, sigma = table[train_idx].mean(axis=0), table[train_idx].std(axis=0)
X_train = torch.from_numpy((table[train_idx] - mu) / sigma)
X_val = torch.from_numpy((table[val_idx] - mu) / sigma)
y_train, y_val = torch.from_numpy(good[train_idx]), torch.from_numpy(good[val_idx])


def focal_loss(logits, targets, gamma=2.0, alpha=0.7):
    p = torch.sigmoid(logits)
    pt = torch.where(targets == 1, p, 1 - p)
    weight = torch.where(targets == 1, alpha, 1 - alpha)
    return -(weight * (1 - pt) ** gamma * torch.log(pt.clamp(min=1e-7))).mean()


model = nn.Sequential(
    nn.Linear(11, 64),
    nn.BatchNorm1d(64),
    nn.SiLU(),
    nn.Dropout(0.2),
    nn.Linear(64, 32),
    nn.SiLU(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)


def predict(x):
    model.eval()
    with torch.no_grad():
        return torch.sigmoid(model(x)).squeeze(1)


def f1(p, y):
    hit = ((p > 0.5) & (y == 1)).sum().item()
    return 2 * hit / max(1, (p > 0.5).sum().item() + int(y.sum().item()))


best = 0.0
for epoch in range(6):
    model.train()
    shuffled = torch.randperm(len(X_train))
    losses = []
    for start in range(0, len(X_train), 100):
        idx = shuffled[start : start + 100]
        xb, yb = X_train[idx], y_train[idx]
        logits = model(xb).squeeze(1)
        loss = focal_loss(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    p_val = predict(X_val)
    score_val = f1(p_val, y_val)
    best = max(best, score_val)
    print(f"{epoch:2d} loss {np.mean(losses):.4f} F1 {score_val:.3f} best {best:.3f}")
