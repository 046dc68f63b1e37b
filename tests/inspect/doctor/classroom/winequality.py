# 와인 품질 예측 (회귀) - 데이터 분석 수업 과제
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(42)
torch.manual_seed(42)
N = 1200
acid = np.random.normal(8.3, 1.7, N)
sugar = np.random.gamma(2, 1.3, N)
sulfur = np.random.normal(46, 30, N).clip(5)
alcohol = np.random.normal(10.4, 1.0, N)
kind = np.random.randint(0, 2, N)
quality = 5.6 + 0.4 * (alcohol - 10.4) - 0.1 * (acid - 8.3) + 0.3 * kind - 0.004 * (sulfur - 46) + np.random.normal(0, 0.25, N)

X = np.stack([acid, sugar, sulfur, alcohol, kind], axis=1).astype(np.float32)
y = quality.astype(np.float32).reshape(-1, 1)
perm = np.random.permutation(N)
tr, va, te = perm[:800], perm[800:1000], perm[1000:]
mean, std = X[tr].mean(axis=0), X[tr].std(axis=0)
X = (X - mean) / std

train_set = TensorDataset(torch.from_numpy(X[tr]), torch.from_numpy(y[tr]))
val_set = TensorDataset(torch.from_numpy(X[va]), torch.from_numpy(y[va]))
test_set = TensorDataset(torch.from_numpy(X[te]), torch.from_numpy(y[te]))
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)
test_loader = DataLoader(test_set, batch_size=100)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 32)
        self.out = nn.Linear(32, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = self.dropout(x)
        x = F.relu(self.fc2(x))
        return self.out(x)


def evaluate(net, loader):
    net.eval()
    se, ae, n = 0.0, 0.0, 0
    with torch.no_grad():
        for xb, yb in loader:
            p = net(xb)
            se += F.mse_loss(p, yb, reduction="sum").item()
            ae += (p - yb).abs().sum().item()
            n += len(yb)
    return (se / n) ** 0.5, ae / n


net = WineNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2)
criterion = nn.MSELoss()
best, best_state, wait = float("inf"), None, 0
for epoch in range(12):
    net.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        out = net(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * xb.size(0)
    rmse, mae = evaluate(net, val_loader)
    scheduler.step(rmse)
    print(f"[{epoch + 1:02d}] train mse {running / len(train_set):.4f} val rmse {rmse:.4f} mae {mae:.4f}")
    if rmse < best:
        best, wait = rmse, 0
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    else:
        wait += 1
        if wait >= 5:
            break
net.load_state_dict(best_state)
print("test rmse {:.4f} mae {:.4f}".format(*evaluate(net, test_loader)))
