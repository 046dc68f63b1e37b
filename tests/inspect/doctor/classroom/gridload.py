"""Load of a power grid: 6 hours ahead from 36 hours of load, temperature, wind and the clock."""

import copy
import math

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

LOOKBACK, HORIZON = 36, 6
FEATURES = ["load", "temp", "wind", "hour_sin", "hour_cos"]


def load_data(hours=1500, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    temp = 12 + 8 * np.sin(2 * np.pi * t / 24 - 2) + 4 * np.sin(2 * np.pi * t / 400) + rng.normal(0, 1, hours)
    wind = np.abs(6 + 2.5 * np.cumsum(rng.normal(0, 0.15, hours)) + rng.normal(0, 1, hours))
    load = 900 + 160 * np.sin(2 * np.pi * t / 24) + 60 * np.sin(4 * np.pi * t / 24) - 9 * temp + rng.normal(0, 12, hours)
    df = pd.DataFrame({"load": load, "temp": temp, "wind": wind})
    df["hour_sin"] = np.sin(2 * np.pi * (t % 24) / 24)
    df["hour_cos"] = np.cos(2 * np.pi * (t % 24) / 24)
    return df


class WindowDataset(Dataset):
    def __init__(self, frame, lookback, horizon):
        self.values = torch.tensor(frame[FEATURES].values, dtype=torch.float32)
        self.lookback = lookback
        self.horizon = horizon

    def __len__(self):
        return len(self.values) - self.lookback - self.horizon + 1

    def __getitem__(self, i):
        x = self.values[i : i + self.lookback]
        y = self.values[i + self.lookback : i + self.lookback + self.horizon, 0]
        return x, y


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, length):
        super().__init__()
        pos = torch.arange(length, dtype=torch.float32)[:, None]
        freq = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
        pe = torch.zeros(length, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * freq), torch.cos(pos * freq)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class LoadTransformer(nn.Module):
    def __init__(self, n_features, horizon, d_model=32, n_heads=4, n_layers=2, dropout=0.05):
        super().__init__()
        self.input_proj = nn.Linear(n_features, d_model)
        self.pos = PositionalEncoding(d_model, LOOKBACK)
        block = nn.TransformerEncoderLayer(d_model, n_heads, 64, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, n_layers)
        self.head = nn.Linear(d_model, horizon)

    def forward(self, x):
        z = self.encoder(self.pos(self.input_proj(x)))
        return self.head(z[:, -1])


def train_step(model, batch, loss_fn, optimizer):
    x, y = batch
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def predict(model, loader):
    model.eval()
    preds, trues = zip(*[(model(x), y) for x, y in loader])
    return torch.cat(preds), torch.cat(trues)


def fit(model, train_dl, val_dl, epochs=5, lr=1e-3):
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    best_val, best_weights = math.inf, None
    for epoch in range(epochs):
        model.train()
        losses = [train_step(model, batch, loss_fn, optimizer) for batch in train_dl]
        preds, trues = predict(model, val_dl)
        val_loss = loss_fn(preds, trues).item()
        scheduler.step(val_loss)
        if val_loss < best_val:
            best_val = val_loss
            best_weights = copy.deepcopy(model.state_dict())
        print(f"epoch {epoch}: train mse {np.mean(losses):.4f} val mse {val_loss:.4f}")
    model.load_state_dict(best_weights)
    return model


def main():
    torch.manual_seed(0)
    df = load_data()
    n = len(df)
    train_df, val_df, test_df = df[: int(n * 0.7)], df[int(n * 0.7) : int(n * 0.85)], df[int(n * 0.85) :]
    mean, std = train_df.mean(), train_df.std()
    train_df, val_df, test_df = ((part - mean) / std for part in (train_df, val_df, test_df))
    train_dl = DataLoader(WindowDataset(train_df, LOOKBACK, HORIZON), batch_size=32, shuffle=True)
    val_dl = DataLoader(WindowDataset(val_df, LOOKBACK, HORIZON), batch_size=64)
    test_dl = DataLoader(WindowDataset(test_df, LOOKBACK, HORIZON), batch_size=64)
    model = fit(LoadTransformer(len(FEATURES), HORIZON), train_dl, val_dl)

    preds, trues = predict(model, test_dl)
    preds = preds * std["load"] + mean["load"]
    trues = trues * std["load"] + mean["load"]
    mae = (preds - trues).abs().mean(dim=0)
    mape = ((preds - trues).abs() / trues).mean().item() * 100
    print("MAE by hour ahead (MW):", [round(v, 1) for v in mae.tolist()])
    print(f"MAPE {mape:.2f} %")


if __name__ == "__main__":
    main()
