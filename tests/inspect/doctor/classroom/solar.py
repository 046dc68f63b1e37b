"""Power of solar panels for the coming hours: a transformer encoder over windows of weather, in notebook style."""

# %%
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
np.random.seed(0)
LOOKBACK, AHEAD = 24, 4

# %% data
hours = np.arange(2400)
sun = np.clip(np.sin(2 * np.pi * (hours % 24 - 6) / 24), 0, None)
cloud = np.clip(np.convolve(np.random.rand(2400 + 23), np.ones(24) / 24, "valid") * 2 - 0.5, 0, 1)
temp = 12 + 8 * np.sin(2 * np.pi * (hours - 10) / 24) + np.random.randn(2400)
power = 40 * sun * (1 - 0.7 * cloud) + 0.5 * np.random.randn(2400)
data = np.stack([power, cloud, temp, np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24)], axis=1)
train_end, val_end = 1700, 2050
mu = data[:train_end].mean(axis=0)
sigma = data[:train_end].std(axis=0)
data = (data - mu) / sigma


class WindowDataset(Dataset):
    def __init__(self, series):
        self.series = torch.tensor(series, dtype=torch.float32)

    def __len__(self):
        return len(self.series) - LOOKBACK - AHEAD + 1

    def __getitem__(self, i):
        window = self.series[i : i + LOOKBACK]
        target = self.series[i + LOOKBACK : i + LOOKBACK + AHEAD, 0]
        return window, target


train_ds = WindowDataset(data[:train_end])
val_ds = WindowDataset(data[train_end:val_end])
test_ds = WindowDataset(data[val_end:])
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=128)
test_dl = DataLoader(test_ds, batch_size=128)


# %% model
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class SolarFormer(nn.Module):
    def __init__(self, n_features=5, d_model=32, nhead=4, num_layers=2):
        super().__init__()
        self.embed = nn.Linear(n_features, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers)
        self.head = nn.Linear(d_model, AHEAD)

    def forward(self, x):
        h = self.pos(self.embed(x))
        h = self.encoder(h)
        return self.head(h[:, -1])


model = SolarFormer()
loss_fn = nn.HuberLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)


# %% train
def run(dl, training):
    model.train() if training else model.eval()
    losses = []
    with torch.set_grad_enabled(training):
        for xb, yb in dl:
            out = model(xb)
            loss = loss_fn(out, yb)
            if training:
                opt.zero_grad()
                loss.backward()
                opt.step()
            losses.append(loss.item() * len(xb))
    return sum(losses) / len(dl.dataset)


history, best_val = [], float("inf")
for epoch in range(3):
    tr = run(train_dl, True)
    va = run(val_dl, False)
    sched.step(va)
    history.append((tr, va))
    if va < best_val:
        best_val = va
        torch.save(model.state_dict(), "solar.pt")
    print(f"epoch {epoch} train {tr:.4f} val {va:.4f} lr {opt.param_groups[0]['lr']:.5f}")

# %% test
model.load_state_dict(torch.load("solar.pt"))
print("test", run(test_dl, False))
model.eval()
with torch.no_grad():
    xb, yb = next(iter(test_dl))
    mae = ((model(xb) - yb).abs().mean(0) * sigma[0]).tolist()
print("MAE per hour (kW):", [round(m, 2) for m in mae])
