"""Speed on twelve road sensors for the next quarter of an hour: graph and time convolutions, missing readings are zero."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Config:
    sensors: int = 12
    past: int = 12
    ahead: int = 3
    hidden: int = 16
    batch_size: int = 32
    epochs: int = 3
    lr: float = 3e-3
    seed: int = 21


cfg = Config()
rng = np.random.RandomState(cfg.seed)
torch.manual_seed(cfg.seed)


def load_speeds(steps=700):
    t = np.arange(steps)[:, None]
    phase = np.linspace(0, 2, cfg.sensors)[None]
    speed = 55 + 12 * np.sin(2 * np.pi * t / 48 - phase) + 3 * np.sin(2 * np.pi * t / 11) + rng.normal(0, 1.0, (steps, cfg.sensors))
    speed[rng.rand(steps, cfg.sensors) < 0.04] = 0.0  # no reading
    return speed.astype(np.float32)


def road_graph():
    a = np.zeros((cfg.sensors, cfg.sensors), np.float32)
    for i in range(cfg.sensors - 1):
        a[i, i + 1] = a[i + 1, i] = 1.0
    a[0, 6] = a[6, 0] = 1.0
    a += np.eye(cfg.sensors, dtype=np.float32)
    d = a.sum(1) ** -0.5
    return torch.from_numpy(d[:, None] * a * d[None])


class Scaler:
    def fit(self, x):
        there = x[x > 0]
        self.mean, self.std = float(there.mean()), float(there.std())
        return self

    def transform(self, x):
        return (x - self.mean) / self.std

    def inverse(self, x):
        return x * self.std + self.mean


def windows(speed, scaler):
    xs, ys = [], []
    for i in range(len(speed) - cfg.past - cfg.ahead + 1):
        xs.append(scaler.transform(speed[i : i + cfg.past]))
        ys.append(speed[i + cfg.past : i + cfg.past + cfg.ahead])
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))


class TimeBlock(nn.Module):
    def __init__(self, c_in, c_out, kernel=3):
        super().__init__()
        self.conv = nn.Conv2d(c_in, 2 * c_out, (kernel, 1))

    def forward(self, x):  # (B, C, T, N)
        p, q = self.conv(x).chunk(2, dim=1)
        return p * torch.sigmoid(q)


class GraphBlock(nn.Module):
    def __init__(self, c_in, c_out, graph):
        super().__init__()
        self.register_buffer("graph", graph)
        self.theta = nn.Linear(c_in, c_out)

    def forward(self, x):
        mixed = torch.einsum("ij,bctj->bcti", self.graph, x)
        return F.relu(self.theta(mixed.permute(0, 2, 3, 1))).permute(0, 3, 1, 2)


class STGCN(nn.Module):
    def __init__(self, cfg, graph):
        super().__init__()
        h = cfg.hidden
        self.time1, self.graph1, self.time2 = TimeBlock(1, h), GraphBlock(h, h, graph), TimeBlock(h, h)
        self.norm = nn.BatchNorm2d(h)
        self.time3, self.graph2 = TimeBlock(h, h), GraphBlock(h, h, graph)
        self.head = nn.Conv2d(h, cfg.ahead, (cfg.past - 6, 1))

    def forward(self, x):  # (B, T, N) -> (B, ahead, N)
        x = self.time2(self.graph1(self.time1(x.unsqueeze(1))))
        x = self.norm(x)
        y = self.time3(x)
        y = y + self.graph2(y)
        return self.head(y).squeeze(2)


def masked_mae(guess, truth):
    mask = (truth > 0).float()
    return (torch.abs(guess - truth) * mask).sum() / mask.sum().clamp(min=1)


def main():
    speed = load_speeds()
    cut1, cut2 = int(0.7 * len(speed)), int(0.85 * len(speed))
    scaler = Scaler().fit(speed[:cut1])
    x_train, y_train = windows(speed[:cut1], scaler)
    x_val, y_val = windows(speed[cut1:cut2], scaler)
    x_test, y_test = windows(speed[cut2:], scaler)
    model = STGCN(cfg, road_graph())
    optimizer = torch.optim.RMSprop(model.parameters(), lr=cfg.lr)
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(cfg.epochs):
        model.train()
        order = torch.from_numpy(rng.permutation(len(x_train)))
        for i in range(0, len(order), cfg.batch_size):
            rows = order[i : i + cfg.batch_size]
            x, y = x_train[rows], y_train[rows]
            guess = scaler.inverse(model(x))
            loss = masked_mae(guess, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = masked_mae(scaler.inverse(model(x_val)), y_val).item()
        print(epoch, "training", loss.item(), "validation", val)
        if val < best:
            best, waited = val, 0
            best_state = {k: v.detach().clone() for k, v in model.state_dict().items()}
        else:
            waited += 1
            if waited > 2:
                break
    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        print("test MAE", masked_mae(scaler.inverse(model(x_test)), y_test).item())


main()
