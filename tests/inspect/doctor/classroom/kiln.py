# homework 3: predict if a brick breaks in the kiln, 4-fold cross validation, numpy + torch
import numpy as np
import torch
import torch.nn as nn

np.random.seed(42)
torch.manual_seed(42)

# ---- make the data
n = 800
temp = np.random.normal(1050, 60, n)
moisture = np.random.gamma(2.0, 2.5, n)
minutes = np.random.uniform(200, 500, n)
clay = np.random.randint(0, 4, n)
thickness = np.random.normal(6.5, 0.8, n)
risk = (
    0.02 * (temp - 1050)
    + 0.35 * (moisture - 5)
    - 0.008 * (minutes - 350)
    + np.array([0, 0.8, -0.8, 0.4])[clay]
    + 0.6 * (thickness - 6.5)
)
broken = (risk + 0.5 * np.random.randn(n) > 0.6).astype(np.float32)
features = np.stack([temp, moisture, minutes, thickness], axis=1).astype(np.float32)


class BrickNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.clay_embedding = nn.Embedding(4, 3)
        self.bn = nn.BatchNorm1d(4)
        self.fc1 = nn.Linear(7, 32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, 1)
        self.drop = nn.Dropout(0.2)

    def forward(self, num, cat):
        h = torch.cat([self.bn(num), self.clay_embedding(cat)], dim=1)
        h = self.drop(torch.relu(self.fc1(h)))
        h = torch.relu(self.fc2(h))
        return self.fc3(h)


def standardize(train, other):
    mean = train.mean(axis=0)
    std = train.std(axis=0)
    return (train - mean) / std, (other - mean) / std


def f1(pred, true):
    tp = ((pred == 1) & (true == 1)).sum()
    precision = tp / max((pred == 1).sum(), 1)
    recall = tp / max((true == 1).sum(), 1)
    return 2 * precision * recall / max(precision + recall, 1e-9)


k = 4
indices = np.random.permutation(n)
folds = np.array_split(indices, k)
scores = []
for i in range(k):
    val_idx = folds[i]
    train_idx = np.concatenate([folds[j] for j in range(k) if j != i])
    x_train, x_val = standardize(features[train_idx], features[val_idx])
    c_train, c_val = clay[train_idx], clay[val_idx]
    y_train, y_val = broken[train_idx], broken[val_idx]

    net = BrickNet()
    pos_weight = torch.tensor([(y_train == 0).sum() / (y_train == 1).sum()], dtype=torch.float32)
    criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[5], gamma=0.3)
    for _ in range(7):
        net.train()
        shuffled = np.random.permutation(len(x_train))
        epoch_loss = []
        for start in range(0, len(x_train), 50):
            batch = shuffled[start : start + 50]
            xb = torch.tensor(x_train[batch])
            cb = torch.tensor(c_train[batch])
            yb = torch.tensor(y_train[batch]).unsqueeze(1)
            optimizer.zero_grad()
            out = net(xb, cb)
            loss = criterion(out, yb)
            loss.backward()
            optimizer.step()
            epoch_loss.append(loss.item())
        scheduler.step()
    net.eval()
    with torch.no_grad():
        val_out = net(torch.tensor(x_val), torch.tensor(c_val)).squeeze(1)
        val_pred = (torch.sigmoid(val_out) > 0.5).numpy().astype(int)
    scores.append(f1(val_pred, y_val))
    print(f"fold {i}: loss {np.mean(epoch_loss):.3f} val acc {(val_pred == y_val).mean():.3f} f1 {scores[-1]:.3f}")
print("mean f1", np.mean(scores))
