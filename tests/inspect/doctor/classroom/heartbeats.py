"""Which kind of heartbeat? A small 1-D residual net on numpy signals, weighted classes, the best epoch is kept and tested."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(31)
torch.manual_seed(31)
LEN, KINDS = 96, 4


def beat(kind):
    t = np.linspace(0, 1, LEN)
    x = np.exp(-((t - 0.4) ** 2) / 0.0008) * (1.0, 1.0, -0.8, 0.5)[kind]
    x += 0.3 * np.exp(-((t - (0.65, 0.75, 0.65, 0.55)[kind]) ** 2) / 0.003)
    return np.roll(x, rng.integers(-6, 7)) * rng.uniform(0.8, 1.2) + 0.08 * rng.standard_normal(LEN)


labels = rng.choice(KINDS, size=900, p=[0.6, 0.2, 0.12, 0.08])
signals = np.stack([beat(k) for k in labels]).astype(np.float32)
perm = rng.permutation(900)
tr, va, te = perm[:600], perm[600:750], perm[750:]
mu, sigma = signals[tr].mean(), signals[tr].std()
signals = (signals - mu) / sigma


def loader_of(idx, shuffle=False):
    x = torch.from_numpy(signals[idx]).unsqueeze(1)
    y = torch.from_numpy(labels[idx]).long()
    return DataLoader(TensorDataset(x, y), batch_size=50, shuffle=shuffle)


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out, stride):
        super().__init__()
        self.conv1 = nn.Conv1d(c_in, c_out, 5, stride, 2, bias=False)
        self.bn1 = nn.BatchNorm1d(c_out)
        self.conv2 = nn.Conv1d(c_out, c_out, 5, 1, 2, bias=False)
        self.bn2 = nn.BatchNorm1d(c_out)
        self.skip = nn.Conv1d(c_in, c_out, 1, stride)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = torch.relu(self.bn1(self.conv1(x)))
        h = self.drop(h)
        h = self.bn2(self.conv2(h))
        return torch.relu(h + self.skip(x))


class HeartNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(ResBlock(1, 16, 2), ResBlock(16, 32, 2))
        self.fc = nn.Linear(32, KINDS)

    def forward(self, x):
        h = self.blocks(x)
        return self.fc(h.mean(dim=2))


def evaluate(net, loader):
    net.eval()
    correct, confusion = 0, torch.zeros(KINDS, KINDS)
    with torch.no_grad():
        for x, y in loader:
            guess = net(x).argmax(dim=1)
            correct += (guess == y).sum().item()
            for a, b in zip(y, guess):
                confusion[a, b] += 1
    return correct / len(loader.dataset), confusion


train_loader, val_loader, test_loader = loader_of(tr, True), loader_of(va), loader_of(te)
counts = np.bincount(labels[tr], minlength=KINDS)
weights = torch.tensor(counts.sum() / (KINDS * counts), dtype=torch.float32)
net = HeartNet()
criterion = nn.CrossEntropyLoss(weight=weights)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
best_acc = 0.0
for epoch in range(4):
    net.train()
    running_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        outputs = net(x)
        loss = criterion(outputs, y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    val_acc, _ = evaluate(net, val_loader)
    scheduler.step()
    print(f"[{epoch}] loss {running_loss / len(train_loader):.3f} val {val_acc:.3f}")
    if val_acc > best_acc:
        best_acc = val_acc
        best_weights = {k: v.clone() for k, v in net.state_dict().items()}
net.load_state_dict(best_weights)
print("test", *evaluate(net, test_loader))
