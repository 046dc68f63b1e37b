"""How long patients stay: a config, a Trainer with callbacks, a table of kinds and numbers, log days, three seeds of one split."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    seed: int = 5
    epochs: int = 6
    batch_size: int = 64
    lr: float = 4e-3
    weight_decay: float = 1e-4
    embed_dim: int = 6
    hidden: int = 48
    dropout: float = 0.15
    patience: int = 2
    clip: float = 5.0


def make_table(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    ward = rng.integers(0, 7, n)
    surgeon = rng.integers(0, 15, n)
    age = rng.normal(58, 16, n).clip(18, 95)
    pressure = rng.normal(128, 18, n)
    severity = rng.beta(2, 5, n)
    emergency = (rng.random(n) < 0.3).astype(np.float64)
    rate = 0.4 + 0.12 * ward + 0.012 * (age - 40) + 1.8 * severity + 0.5 * emergency + 0.05 * (surgeon % 4)
    days = np.exp(rate * 0.6 + rng.normal(0, 0.2, n))
    return {
        "ward": ward,
        "surgeon": surgeon,
        "age": age,
        "pressure": pressure,
        "severity": severity,
        "emergency": emergency,
        "days": days,
    }


class Standardizer:
    def fit(self, x: np.ndarray) -> Standardizer:
        self.mean, self.std = x.mean(axis=0), x.std(axis=0)
        return self

    def transform(self, x: np.ndarray) -> np.ndarray:
        return (x - self.mean) / self.std


class StayDataset(Dataset):
    def __init__(self, cats: np.ndarray, nums: np.ndarray, target: np.ndarray):
        self.cats = torch.as_tensor(cats, dtype=torch.long)
        self.nums = torch.as_tensor(nums, dtype=torch.float32)
        self.target = torch.as_tensor(target, dtype=torch.float32)

    def __len__(self) -> int:
        return len(self.target)

    def __getitem__(self, i: int):
        return self.cats[i], self.nums[i], self.target[i]


class StayNet(nn.Module):
    def __init__(self, sizes: list[int], n_numeric: int, cfg: Config):
        super().__init__()
        self.embeds = nn.ModuleList(nn.Embedding(size, cfg.embed_dim) for size in sizes)
        width = cfg.embed_dim * len(sizes) + n_numeric
        self.inp = nn.Linear(width, cfg.hidden)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(cfg.hidden), nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(), nn.Dropout(cfg.dropout))
            for _ in range(2)
        )
        self.out = nn.Linear(cfg.hidden, 1)

    def forward(self, cats, nums):
        e = [table(cats[:, i]) for i, table in enumerate(self.embeds)]
        h = torch.relu(self.inp(torch.cat(e + [nums], dim=1)))
        for block in self.blocks:
            h = h + block(h)
        return self.out(h).squeeze(1)


class EarlyStopping:
    def __init__(self, patience: int):
        self.patience, self.best, self.count, self.state = patience, float("inf"), 0, None

    def __call__(self, value: float, model: nn.Module) -> bool:
        if value < self.best:
            self.best, self.count = value, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.count += 1
        return self.count >= self.patience


class Trainer:
    def __init__(self, model: nn.Module, cfg: Config, loaders: dict[str, DataLoader]):
        self.model, self.cfg, self.loaders = model, cfg, loaders
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=0.5, patience=1)
        self.stopper = EarlyStopping(cfg.patience)
        self.history: dict[str, list[float]] = {"train": [], "val": []}

    def train_one_epoch(self) -> float:
        self.model.train()
        total, seen = 0.0, 0
        for cats, nums, y in self.loaders["train"]:
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.criterion(self.model(cats, nums), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
            self.optimizer.step()
            total, seen = total + loss.item() * len(y), seen + len(y)
        return total / seen

    @torch.no_grad()
    def evaluate(self, split: str) -> tuple[float, float]:
        self.model.eval()
        total, error, seen = 0.0, 0.0, 0
        for cats, nums, y in self.loaders[split]:
            pred = self.model(cats, nums)
            total += self.criterion(pred, y).item() * len(y)
            error += (pred.exp() - y.exp()).abs().sum().item()
            seen += len(y)
        return total / seen, error / seen

    def fit(self) -> None:
        for epoch in range(self.cfg.epochs):
            train = self.train_one_epoch()
            val, days = self.evaluate("val")
            self.scheduler.step(val)
            self.history["train"].append(train)
            self.history["val"].append(val)
            print(f"epoch {epoch} train {train:.4f} val {val:.4f} off by {days:.2f} days")
            if self.stopper(val, self.model):
                break
        self.model.load_state_dict(self.stopper.state)


def main(cfg: Config) -> float:
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    table = make_table(1400, rng)
    cats = np.stack([table["ward"], table["surgeon"]], axis=1)
    nums = np.stack([table[c] for c in ("age", "pressure", "severity", "emergency")], axis=1)
    target = np.log(table["days"])
    perm = rng.permutation(len(target))
    parts = {"train": perm[:1000], "val": perm[1000:1200], "test": perm[1200:]}
    scaler = Standardizer().fit(nums[parts["train"]])
    nums = scaler.transform(nums)
    sets = {k: StayDataset(cats[i], nums[i], target[i]) for k, i in parts.items()}
    loaders = {k: DataLoader(s, batch_size=cfg.batch_size, shuffle=k == "train") for k, s in sets.items()}
    model = StayNet([7, 15], nums.shape[1], cfg)
    trainer = Trainer(model, cfg, loaders)
    trainer.fit()
    return trainer.evaluate("test")[1]


if __name__ == "__main__":
    print("test: off by", main(Config()), "days")
