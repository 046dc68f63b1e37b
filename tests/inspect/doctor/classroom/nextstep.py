"""The next value of several series by a small causal transformer: windows, teacher forcing, MAE shown, tested in time."""

import math
import random

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


def set_seed(seed=3):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class SeriesDataset(Dataset):
    def __init__(self, series, length):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        window = self.series[i : i + self.length + 1]
        return window[:-1], window[1:]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class TimeSeriesTransformer(nn.Module):
    def __init__(self, n_series=3, d_model=32, nhead=4, num_layers=2, dropout=0.1):
        super().__init__()
        self.input_proj = nn.Linear(n_series, d_model)
        self.pos_encoder = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, 64, dropout, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.output_proj = nn.Linear(d_model, n_series)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        h = self.pos_encoder(self.input_proj(x))
        h = self.encoder(h, mask=mask, is_causal=True)
        return self.output_proj(h)


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total, mae, count = 0.0, 0.0, 0
    for x, y in loader:
        with torch.set_grad_enabled(training):
            pred = model(x)
            loss = criterion(pred, y)
        if training:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        total += loss.item() * x.size(0)
        mae += (pred.detach() - y).abs().mean().item() * x.size(0)
        count += x.size(0)
    return total / count, mae / count


def main():
    set_seed()
    t = torch.arange(900).float()
    raw = torch.stack([torch.sin(t / 6), torch.sin(t / 11 + 1) * 2 + 5, torch.cos(t / 17) * 10 - 3], dim=1)
    raw = raw + 0.1 * torch.randn_like(raw)
    cut = 700
    mean, std = raw[:cut].mean(0), raw[:cut].std(0)
    series = (raw - mean) / std
    train_loader = DataLoader(SeriesDataset(series[:cut], 24), batch_size=32, shuffle=True, drop_last=True)
    test_loader = DataLoader(SeriesDataset(series[cut:], 24), batch_size=64)
    model = TimeSeriesTransformer()
    criterion = nn.HuberLoss()
    optimizer = optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    for epoch in range(2):
        train_loss, train_mae = run_epoch(model, train_loader, criterion, optimizer)
        test_loss, test_mae = run_epoch(model, test_loader, criterion)
        scheduler.step()
        print(f"{epoch}: train {train_loss:.4f} (MAE {train_mae:.3f}), test {test_loss:.4f} (MAE {test_mae:.3f})")


main()
