"""Regression with Huber's loss on normalised columns, RMSprop, a schedule, early stopping by a held-out part."""

import torch
from torch import nn

torch.manual_seed(31)
raw = torch.randn(400, 9) * torch.tensor([1.0, 20, 300, 2, 5, 0.1, 1, 40, 7]) + 50
price = (raw[:, :1] * 3 + raw[:, 1:2] * 0.2 + torch.randn(400, 1)) / 10
columns = (raw - raw.mean(0)) / raw.std(0)
target = (price - price.mean()) / price.std()
model = nn.Sequential(nn.Linear(9, 32), nn.SiLU(), nn.Dropout(0.1), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
huber = nn.HuberLoss(delta=1.0)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5)
best = float("inf")
for epoch in range(6):
    model.train()
    for rows in torch.randperm(320).split(32):
        prediction = model(columns[rows])
        loss = huber(prediction, target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        best = min(best, huber(model(columns[320:]), target[320:]).item())
    print(epoch, best)
