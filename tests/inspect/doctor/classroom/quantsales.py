"""Sales of many shops: a GRU encoder-decoder that foretells quantiles of the next days."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

QUANTILES = [0.1, 0.5, 0.9]


@dataclass
class Settings:
    history: int = 28
    ahead: int = 7
    shops: int = 20
    days: int = 260
    hidden: int = 32
    batch_size: int = 64
    epochs: int = 4
    lr: float = 3e-3


def simulate(s, seed=0):
    rng = np.random.default_rng(seed)
    day = np.arange(s.days)
    weekly = 1 + 0.35 * np.sin(2 * np.pi * (day[None] + rng.integers(0, 7, (s.shops, 1))) / 7)
    level = rng.uniform(20, 200, (s.shops, 1)) * (1 + 0.0008 * day[None])
    promo = (rng.random((s.shops, s.days)) < 0.1).astype(float)
    return rng.poisson(level * weekly * (1 + 0.6 * promo)).astype(np.float32), promo.astype(np.float32)


class SalesWindows(Dataset):
    """(history, future features), what is sold on the days ahead; each shop in units of its own mean."""

    def __init__(self, sales, promo, scale, first, last, s):
        self.sales, self.promo, self.scale, self.s = sales, promo, scale, s
        self.index = [(shop, t) for shop in range(len(sales)) for t in range(first + s.history, last - s.ahead + 1)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        shop, t = self.index[i]
        s = self.s
        day = np.arange(t - s.history, t + s.ahead)
        clock = np.stack([np.sin(2 * np.pi * day / 7), np.cos(2 * np.pi * day / 7), self.promo[shop, day]], axis=-1)
        past = self.sales[shop, t - s.history : t] / self.scale[shop]
        x = np.concatenate([past[:, None], clock[: s.history]], axis=-1)
        y = self.sales[shop, t : t + s.ahead] / self.scale[shop]
        return torch.tensor(x, dtype=torch.float32), torch.tensor(clock[s.history :], dtype=torch.float32), torch.tensor(y), shop


class QuantileSeq2Seq(nn.Module):
    def __init__(self, s, n_shops):
        super().__init__()
        self.shop_embedding = nn.Embedding(n_shops, 4)
        self.encoder = nn.GRU(4 + 4, s.hidden, batch_first=True)
        self.decoder = nn.GRU(3 + 4, s.hidden, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(s.hidden, len(QUANTILES))

    def forward(self, past, future, shop):
        e = self.shop_embedding(shop).unsqueeze(1)
        _, h = self.encoder(torch.cat([past, e.expand(-1, past.size(1), -1)], dim=-1))
        out, _ = self.decoder(torch.cat([future, e.expand(-1, future.size(1), -1)], dim=-1), h)
        return self.head(self.dropout(out))


def pinball_loss(pred, target):
    losses = []
    for i, q in enumerate(QUANTILES):
        error = target - pred[..., i]
        losses.append(torch.max(q * error, (q - 1) * error))
    return torch.stack(losses).mean()


def train(model, train_loader, valid_loader, s):
    optimizer = torch.optim.Adam(model.parameters(), lr=s.lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.3)
    for epoch in range(1, s.epochs + 1):
        model.train()
        train_loss = 0.0
        for past, future, y, shop in train_loader:
            loss = pinball_loss(model(past, future, shop), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss += loss.item() / len(train_loader)
        valid_loss, coverage = evaluate(model, valid_loader)
        scheduler.step(valid_loss)
        print(f"{epoch}: train {train_loss:.4f} valid {valid_loss:.4f} between 10 % and 90 %: {coverage:.2%}")


def evaluate(model, loader):
    model.eval()
    losses, inside = [], []
    with torch.no_grad():
        for past, future, y, shop in loader:
            pred = model(past, future, shop)
            losses.append(pinball_loss(pred, y).item())
            inside.append(((y >= pred[..., 0]) & (y <= pred[..., 2])).float().mean().item())
    return float(np.mean(losses)), float(np.mean(inside))


def main():
    s = Settings()
    torch.manual_seed(8)
    sales, promo = simulate(s)
    valid_from, test_from = s.days - 56, s.days - 28
    scale = sales[:, :valid_from].mean(axis=1)
    train_set = SalesWindows(sales, promo, scale, 0, valid_from, s)
    valid_set = SalesWindows(sales, promo, scale, valid_from - s.history, test_from, s)
    test_set = SalesWindows(sales, promo, scale, test_from - s.history, s.days, s)
    train_loader = DataLoader(train_set, batch_size=s.batch_size, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=256)
    test_loader = DataLoader(test_set, batch_size=256)
    model = QuantileSeq2Seq(s, s.shops)
    train(model, train_loader, valid_loader, s)

    loss, coverage = evaluate(model, test_loader)
    errors, naive = [], []
    with torch.no_grad():
        for past, future, y, shop in test_loader:
            median = model(past, future, shop)[..., 1]
            unit = torch.tensor(scale)[shop][:, None]
            errors.append(((median - y).abs() * unit).mean().item())
            naive.append(((past[:, -7:, 0] - y).abs() * unit).mean().item())
    print(f"test loss {loss:.4f}, coverage {coverage:.2%}, MAE {np.mean(errors):.2f} (the week before: {np.mean(naive):.2f})")


if __name__ == "__main__":
    main()
