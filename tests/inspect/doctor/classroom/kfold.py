"""Regression with five folds: in each a new model, a new optimizer, and columns scaled by the training rows."""

import torch
from torch import nn

torch.manual_seed(8)
N, D = 250, 8
X = torch.randn(N, D) * torch.linspace(1, 40, D) + torch.linspace(-20, 60, D)
y = (0.05 * X[:, 0] - 0.02 * X[:, 5] + torch.sin(X[:, 1] / 5) + 0.1 * torch.randn(N)).unsqueeze(1)
order = torch.randperm(N)
folds = order.chunk(5)
scores = []
for k in range(5):
    test_idx = folds[k]
    train_idx = torch.cat([folds[j] for j in range(5) if j != k])
    mu, sigma = X[train_idx].mean(0), X[train_idx].std(0)
    Xtr, Xte = (X[train_idx] - mu) / sigma, (X[test_idx] - mu) / sigma
    model = nn.Sequential(nn.Linear(D, 32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(3):
        model.train()
        for i in torch.randperm(len(Xtr)).split(40):
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(Xtr[i]), y[train_idx][i])
            loss.backward()
            opt.step()
    model.eval()
    with torch.no_grad():
        scores.append(nn.functional.mse_loss(model(Xte), y[test_idx]).item())
print(sum(scores) / 5)
