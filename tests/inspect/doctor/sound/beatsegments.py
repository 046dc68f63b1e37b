"""Pictures of one line: classes along the second axis of the answers, weights of classes that are 1 by their counts."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(0)


def trace(n=256):
    x, y = 0.1 * rng.normal(size=n), np.zeros(n, dtype=int)
    p = rng.integers(5, 25)
    while p < n - 30:
        x[p : p + 10] += 0.3 * np.hanning(10)
        y[p : p + 10] = 1
        x[p + 14 : p + 20] += 1.2 * np.hanning(6)
        y[p + 14 : p + 20] = 2
        p += rng.integers(35, 60)
    return x.astype(np.float32), y


class UNet1d(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv1d(i, o, 5, padding=2), nn.BatchNorm1d(o), nn.ReLU())
        self.d1, self.d2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 2 * c)
        self.u2, self.u1 = block(4 * c, c), block(2 * c, c)
        self.out = nn.Conv1d(c, 3, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool1d(a, 2))
        m = self.mid(F.max_pool1d(b, 2))
        x = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], dim=1))
        x = self.u1(torch.cat([F.interpolate(x, scale_factor=2), a], dim=1))
        return self.out(x)


pairs = [trace() for _ in range(240)]
X = torch.tensor(np.stack([x for x, _ in pairs])).unsqueeze(1)
Y = torch.tensor(np.stack([y for _, y in pairs]))
model = UNet1d()
weights = 1 / torch.bincount(Y[:200].flatten(), minlength=3).float()
criterion = nn.CrossEntropyLoss(weight=weights / weights.sum() * 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
for epoch in range(6):
    model.train()
    perm = torch.randperm(200)
    for i in range(0, 200, 16):
        idx = perm[i : i + 16]
        loss = criterion(model(X[idx]), Y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        pred = model(X[200:]).argmax(dim=1)
        iou = [((pred == c) & (Y[200:] == c)).sum().item() / ((pred == c) | (Y[200:] == c)).sum().item() for c in range(3)]
    print(epoch, loss.item(), [round(v, 3) for v in iou])
