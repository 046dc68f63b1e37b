"""Three folds, each with a new model, early stopping on the fold's own rows, the best weights kept on disk, swa at the end."""

import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn

torch.manual_seed(15)
x = torch.randn(600, 8) * torch.tensor([1.0, 2, 3, 4, 5, 6, 7, 8])
y = x[:, 0] * 2 + x[:, 3].abs() + 0.1 * torch.randn(600)
parts = torch.randperm(600).chunk(3)
scores = []
for fold in range(3):
    held = parts[fold]
    rest = torch.cat([p for i, p in enumerate(parts) if i != fold])
    mean, std = x[rest].mean(0), x[rest].std(0)
    train_x, held_x = (x[rest] - mean) / std, (x[held] - mean) / std
    scale = y[rest].std()
    train_y, held_y = (y[rest] - y[rest].mean()) / scale, (y[held] - y[rest].mean()) / scale
    model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    average = AveragedModel(model)
    swa = SWALR(optimizer, swa_lr=5e-3, anneal_epochs=2)
    best, path = float("inf"), os.path.join(tempfile.gettempdir(), f"fold{os.getpid()}.pt")
    for epoch in range(8):
        model.train()
        for rows in torch.randperm(len(rest)).split(40):
            loss = F.mse_loss(model(train_x[rows]).squeeze(1), train_y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch >= 4:
            average.update_parameters(model)
            swa.step()
        model.eval()
        with torch.no_grad():
            error = F.mse_loss(model(held_x).squeeze(1), held_y).item()
        if error < best:
            best = error
            torch.save(model.state_dict(), path)
    update_bn([train_x[a : a + 100] for a in range(0, len(rest), 100)], average)
    model.load_state_dict(torch.load(path))
    model.eval()
    with torch.no_grad():
        scores.append(F.mse_loss(model(held_x).squeeze(1), held_y).item())
    os.remove(path)
    print(fold, loss.item(), best, scores[-1])
