"""Bikes rented in an hour, as cells of a notebook: one-hot hours, scaled targets, an MLP with batch norm, RMSE in bikes."""

# %%
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(1)
torch.manual_seed(1)

# %% make the table
N = 1600
hour = np.random.randint(0, 24, N)
temp = np.random.normal(15, 8, N)
wind = np.abs(np.random.normal(12, 6, N))
holiday = (np.random.rand(N) < 0.1).astype(float)
count = 180 + 120 * np.sin((hour - 9) / 24 * 2 * np.pi) + 6 * temp - 3 * wind - 40 * holiday + np.random.normal(0, 15, N)

# %% split, then scale with what the training rows say
onehot = np.eye(24)[hour]
numeric = np.stack([temp, wind], 1)
perm = np.random.permutation(N)
tr, va, te = perm[:1100], perm[1100:1350], perm[1350:]
mu, sd = numeric[tr].mean(0), numeric[tr].std(0)
features = np.concatenate([onehot, (numeric - mu) / sd, holiday[:, None]], 1).astype(np.float32)
y_mu, y_sd = count[tr].mean(), count[tr].std()
target = ((count - y_mu) / y_sd).astype(np.float32)


def loader(idx, shuffle=False):
    return DataLoader(TensorDataset(torch.tensor(features[idx]), torch.tensor(target[idx])), batch_size=50, shuffle=shuffle)


train_dl, valid_dl, test_dl = loader(tr, True), loader(va), loader(te)


# %% the model
class BikeNet(nn.Module):
    def __init__(self, n_in, hidden=48, p=0.1):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.bn2 = nn.BatchNorm1d(hidden)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        x = self.drop(F.relu(self.bn1(self.fc1(x))))
        x = self.drop(F.relu(self.bn2(self.fc2(x))))
        return self.out(x).squeeze(1)


net = BikeNet(features.shape[1])
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=3)


# %% train
def rmse(dl):
    net.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for xb, yb in dl:
            pred = net(xb) * y_sd + y_mu
            err += ((pred - (yb * y_sd + y_mu)) ** 2).sum().item()
            n += len(yb)
    return (err / n) ** 0.5


history = []
for epoch in range(6):
    net.train()
    total = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = F.mse_loss(net(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
    val = rmse(valid_dl)
    sched.step(val)
    history.append((total / len(tr), val))
    print(f"epoch {epoch}: train {history[-1][0]:.3f}, valid rmse {val:.1f} bikes")

# %% test
print("test rmse:", rmse(test_dl))
