"""The load of a power line: sliding windows, an LSTM that answers six steps at once, split in time, the rate halved by epochs."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(21)
rng = np.random.default_rng(21)

HISTORY, HORIZON, BATCH = 24, 6, 32

hours = np.arange(1100)
load = 50 + 12 * np.sin(2 * np.pi * hours / 24) + 5 * np.sin(2 * np.pi * hours / 168) + rng.normal(0, 1.5, len(hours))
temp = 15 + 8 * np.sin(2 * np.pi * (hours - 3) / 24) + rng.normal(0, 1, len(hours))
series = np.stack([load, temp], axis=1).astype(np.float32)

split = 800
scaler_min, scaler_max = series[:split].min(axis=0), series[:split].max(axis=0)
scaled = (series - scaler_min) / (scaler_max - scaler_min)
train_series, valid_series = scaled[:split], scaled[split:]


class WindowDataset(Dataset):
    def __init__(self, data):
        self.data = torch.from_numpy(data)

    def __len__(self):
        return len(self.data) - HISTORY - HORIZON + 1

    def __getitem__(self, i):
        x = self.data[i : i + HISTORY]
        y = self.data[i + HISTORY : i + HISTORY + HORIZON, 0]
        return x, y


class LSTMForecaster(nn.Module):
    def __init__(self, n_features=2, hidden_size=32, num_layers=2, horizon=HORIZON):
        super().__init__()
        self.lstm = nn.LSTM(n_features, hidden_size, num_layers, batch_first=True, dropout=0.1)
        self.head = nn.Sequential(nn.Linear(hidden_size, 32), nn.ReLU(), nn.Linear(32, horizon))

    def forward(self, x):
        h0 = torch.zeros(self.lstm.num_layers, x.size(0), self.lstm.hidden_size)
        c0 = torch.zeros(self.lstm.num_layers, x.size(0), self.lstm.hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        return self.head(out[:, -1, :])


train_dl = DataLoader(WindowDataset(train_series), batch_size=BATCH, shuffle=True)
valid_dl = DataLoader(WindowDataset(valid_series), batch_size=BATCH, shuffle=False)

model = LSTMForecaster()
mse = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

train_losses, valid_losses = [], []
for epoch in range(2):
    model.train()
    batch_losses = []
    for x_batch, y_batch in train_dl:
        y_hat = model(x_batch)
        loss = mse(y_hat, y_batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        batch_losses.append(loss.item())
    train_losses.append(np.mean(batch_losses))
    scheduler.step()

    model.eval()
    with torch.no_grad():
        batch_losses = []
        for x_val, y_val in valid_dl:
            y_hat = model(x_val)
            batch_losses.append(mse(y_hat, y_val).item())
        valid_losses.append(np.mean(batch_losses))
    print(f"[{epoch + 1}] Training loss: {train_losses[-1]:.4f}\t Validation loss: {valid_losses[-1]:.4f}")
