"""Windows of a series, dilated convolutions whose ends are cut off; it is tested with all windows at once, in no loader."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
t = np.arange(1600)
s = np.sin(t / 9) + 0.5 * np.sin(t / 23 + 1) + 0.1 * rng.normal(size=1600)
n = 1200
mu, sd = s[:n].mean(), s[:n].std()
s = (s - mu) / sd


def win(a, w=32):
    return np.stack([a[i : i + w] for i in range(len(a) - w)]), np.array([a[i + w] for i in range(len(a) - w)])


class Chomp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c

    def forward(self, x):
        return x[..., : -self.c].contiguous()


class Block(nn.Module):
    def __init__(self, i, o, d, k=3):
        super().__init__()
        p = (k - 1) * d
        self.net = nn.Sequential(
            nn.Conv1d(i, o, k, padding=p, dilation=d),
            Chomp(p),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Conv1d(o, o, k, padding=p, dilation=d),
            Chomp(p),
            nn.ReLU(),
            nn.Dropout(0.1),
        )
        self.down = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        return torch.relu(self.net(x) + (x if self.down is None else self.down(x)))


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Block(1, 16, 1), Block(16, 16, 2), Block(16, 16, 4))
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        return self.fc(self.net(x.unsqueeze(1))[:, :, -1]).squeeze(-1)


xtr, ytr = win(s[:n])
xte, yte = win(s[n:])
T = lambda a: torch.tensor(a, dtype=torch.float32)
dl = DataLoader(TensorDataset(T(xtr), T(ytr)), 32, shuffle=True)
m = TCN()
o = torch.optim.Adam(m.parameters(), 2e-3)
sch = torch.optim.lr_scheduler.StepLR(o, 2, 0.5)
for ep in range(3):
    m.train()
    tot = 0
    for x, y in dl:
        l = nn.functional.smooth_l1_loss(m(x), y)
        o.zero_grad()
        l.backward()
        o.step()
        tot += l.item() * len(x)
    sch.step()
    m.eval()
    with torch.no_grad():
        p = m(T(xte)).numpy() * sd + mu
    print(ep, tot / len(xtr), np.abs(p - (yte * sd + mu)).mean())
