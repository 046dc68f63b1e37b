"""House prices (regression), the target is log(price). A small Trainer class does the work."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    hidden: int = 48
    lr: float = 4e-3
    epochs: int = 25
    batch_size: int = 40
    patience: int = 6
    clip: float = 1.0
    weight_decay: float = 1e-4


def simulate(n=1400, seed=3):
    r = np.random.default_rng(seed)
    area = r.lognormal(4.6, 0.35, n)
    rooms = np.clip(np.round(area / 28 + r.normal(0, 0.8, n)), 1, 9)
    year = r.integers(1920, 2021, n).astype(float)
    distance = r.gamma(2.0, 3.0, n)
    garden = (r.random(n) < 0.4).astype(float)
    log_price = 8.2 + 0.8 * np.log(area) + 0.03 * rooms + 0.004 * (year - 1970) - 0.06 * distance + 0.12 * garden
    log_price += 0.1 * np.sin(distance) * garden + r.normal(0, 0.08, n)
    X = np.stack([area, rooms, year, distance, garden], axis=1)
    return X, np.exp(log_price)


class StandardScaler:
    def fit(self, X):
        self.mean_ = X.mean(axis=0)
        self.scale_ = X.std(axis=0)
        return self

    def transform(self, X):
        return (X - self.mean_) / self.scale_

    def fit_transform(self, X):
        return self.fit(X).transform(X)

    def inverse_transform(self, X):
        return X * self.scale_ + self.mean_


class MLP(nn.Module):
    def __init__(self, n_features, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, hidden),
            nn.LayerNorm(hidden),
            nn.GELU(),
            nn.Dropout(0.05),
            nn.Linear(hidden, hidden),
            nn.GELU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x)


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.cfg = config
        self.criterion = nn.SmoothL1Loss(beta=0.5)
        self.optimizer = optim.AdamW(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
        self.scheduler = optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=0.5, patience=2)
        self.history = {"train": [], "val": []}

    def _run_epoch(self, loader, training):
        self.model.train(training)
        total, count = 0.0, 0
        with torch.set_grad_enabled(training):
            for xb, yb in loader:
                pred = self.model(xb)
                loss = self.criterion(pred, yb)
                if training:
                    self.optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
                    self.optimizer.step()
                total += loss.item() * xb.size(0)
                count += xb.size(0)
        return total / count

    def fit(self, train_loader, val_loader):
        best_val, bad_epochs = float("inf"), 0
        for epoch in range(self.cfg.epochs):
            train_loss = self._run_epoch(train_loader, training=True)
            val_loss = self._run_epoch(val_loader, training=False)
            self.scheduler.step(val_loss)
            self.history["train"].append(train_loss)
            self.history["val"].append(val_loss)
            if epoch % 5 == 0:
                print(f"epoch {epoch:3d}  train {train_loss:.4f}  val {val_loss:.4f}")
            if val_loss < best_val:
                best_val, bad_epochs = val_loss, 0
                self.best_state = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
            else:
                bad_epochs += 1
                if bad_epochs >= self.cfg.patience:
                    print("early stopping at", epoch)
                    break
        self.model.load_state_dict(self.best_state)

    def predict(self, X):
        self.model.eval()
        with torch.no_grad():
            return self.model(X)


def as_loader(X, y, batch_size, shuffle):
    dataset = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle)


def main():
    torch.manual_seed(3)
    cfg = Config()
    X, price = simulate()
    y = np.log1p(price).reshape(-1, 1)

    idx = np.random.default_rng(0).permutation(len(X))
    train_idx, val_idx, test_idx = idx[:900], idx[900:1150], idx[1150:]
    x_scaler, y_scaler = StandardScaler(), StandardScaler()
    X_train, y_train = x_scaler.fit_transform(X[train_idx]), y_scaler.fit_transform(y[train_idx])
    X_val, y_val = x_scaler.transform(X[val_idx]), y_scaler.transform(y[val_idx])
    X_test = x_scaler.transform(X[test_idx])

    train_loader = as_loader(X_train, y_train, cfg.batch_size, shuffle=True)
    val_loader = as_loader(X_val, y_val, 125, shuffle=False)
    trainer = Trainer(MLP(X.shape[1], cfg.hidden), cfg)
    trainer.fit(train_loader, val_loader)

    pred_scaled = trainer.predict(torch.tensor(X_test, dtype=torch.float32)).numpy()
    pred_log = y_scaler.inverse_transform(pred_scaled)
    pred_price = np.expm1(pred_log).ravel()
    true_price = price[test_idx]
    rmsle = np.sqrt(np.mean((np.log1p(pred_price) - np.log1p(true_price)) ** 2))
    mape = np.mean(np.abs(pred_price - true_price) / true_price) * 100
    r2 = 1 - np.sum((pred_price - true_price) ** 2) / np.sum((true_price - true_price.mean()) ** 2)
    print(f"test RMSLE {rmsle:.4f}  MAPE {mape:.1f}%  R2 {r2:.3f}")


if __name__ == "__main__":
    main()
