"""Energy for the next hours: windows of three measures, scaled by the training part, an encoder of PyTorch's and a linear head."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(54)
rng = np.random.default_rng(54)
hours = np.arange(1400)
load = 300 + 80 * np.sin(hours * 2 * np.pi / 24) + 15 * rng.normal(size=1400)
temperature = 12 + 8 * np.sin(hours * 2 * np.pi / 24 + 1) + rng.normal(size=1400)
series = np.stack([load, temperature, hours % 24 / 24], axis=1).astype("float32")
split, LONG, AHEAD = 1000, 24, 4
mean, std = series[:split].mean(0), series[:split].std(0)
scaled = (series - mean) / std


def windows(data):
    starts = range(0, len(data) - LONG - AHEAD, 2)
    x = np.stack([data[i : i + LONG] for i in starts])
    y = np.stack([data[i + LONG : i + LONG + AHEAD, 0] for i in starts])
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


train_loader = DataLoader(windows(scaled[:split]), batch_size=32, shuffle=True)
val_loader = DataLoader(windows(scaled[split:]), batch_size=64)


class Forecaster(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed, self.pos = nn.Linear(3, d), nn.Parameter(0.02 * torch.randn(LONG, d))
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(d, AHEAD)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x) + self.pos)[:, -1])


model, criterion = Forecaster(), nn.MSELoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        prediction = model(x)
        loss = criterion(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    errors = []
    with torch.no_grad():
        for x, y in val_loader:
            errors.append((model(x) - y).abs().mean().item() * float(std[0]))
    print(epoch, loss.item(), np.mean(errors))
