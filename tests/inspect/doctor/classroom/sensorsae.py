"""Broken machines by an autoencoder of sensor windows: only healthy windows are learnt, a threshold of their errors."""

import numpy as np
import torch
import torch.nn as nn


def signal(n, broken, rng):
    t = np.arange(24) / 24 * 2 * np.pi
    phase, speed = rng.uniform(0, 6.28, (n, 1)), rng.uniform(0.8, 1.2, (n, 1))
    a = np.sin(speed * t + phase)
    b = np.cos(2 * speed * t + phase) * (1 + 0.8 * broken)
    c = a * b + 0.5 * broken * rng.randn(n, 24)
    return (np.stack([a, b, c], axis=2) + 0.05 * rng.randn(n, 24, 3)).astype(np.float32) * [2.0, 5.0, 1.0] + [0.0, 3.0, -1.0]


class SeqAE(nn.Module):
    def __init__(self, channels=3, hidden=24, code=6):
        super().__init__()
        self.encoder = nn.LSTM(channels, hidden, batch_first=True)
        self.squeeze, self.widen = nn.Linear(hidden, code), nn.Linear(code, hidden)
        self.decoder = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, channels)

    def forward(self, x):
        _, (h, _) = self.encoder(x)
        z = torch.tanh(self.squeeze(h[-1]))
        repeated = self.widen(z).unsqueeze(1).repeat(1, x.size(1), 1)
        y, _ = self.decoder(repeated)
        return self.out(y)


class Detector:
    def __init__(self, lr=5e-3, clip=1.0):
        self.model = SeqAE()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()
        self.clip = clip

    def scale(self, x):
        return torch.tensor((x - self.mean) / self.std, dtype=torch.float32)

    def fit(self, x, epochs=4, batch=40):
        self.mean, self.std = x.mean(axis=(0, 1)), x.std(axis=(0, 1))
        data = self.scale(x)
        for epoch in range(epochs):
            self.model.train()
            losses = []
            for rows in torch.randperm(len(data)).split(batch):
                window = data[rows]
                rebuilt = self.model(window)
                loss = self.criterion(rebuilt, window)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch}: {np.mean(losses):.4f}")
        self.limit = np.quantile(self.errors(x), 0.98)

    @torch.no_grad()
    def errors(self, x):
        self.model.eval()
        data = self.scale(x)
        return (self.model(data) - data).pow(2).mean(dim=(1, 2)).numpy()


rng = np.random.RandomState(131)
torch.manual_seed(131)
healthy, test_healthy, test_broken = signal(400, 0, rng), signal(80, 0, rng), signal(80, 1, rng)
detector = Detector()
detector.fit(healthy)
print("false alarms", (detector.errors(test_healthy) > detector.limit).mean())
print("found", (detector.errors(test_broken) > detector.limit).mean())
