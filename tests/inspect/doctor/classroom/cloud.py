"""PointNet on clouds of points: ball, box, cone; augmentation on the fly, tqdm in the loop."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as data

try:
    from tqdm import tqdm
except ImportError:
    tqdm = lambda it, **kw: it  # noqa: E731

NUM_POINTS, NUM_CLASSES = 64, 3


def ball(rng):
    p = rng.standard_normal((NUM_POINTS, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def box(rng):
    p = rng.uniform(-1, 1, (NUM_POINTS, 3))
    face = rng.integers(0, 3, NUM_POINTS)
    p[np.arange(NUM_POINTS), face] = rng.choice([-1.0, 1.0], NUM_POINTS)
    return p


def cone(rng):
    h, angle = rng.uniform(0, 1, NUM_POINTS), rng.uniform(0, 2 * np.pi, NUM_POINTS)
    return np.stack([(1 - h) * np.cos(angle), (1 - h) * np.sin(angle), 2 * h - 1], axis=1)


class CloudDataset(data.Dataset):
    def __init__(self, size, split):
        rng = np.random.default_rng({"train": 10, "valid": 11, "test": 12}[split])
        self.labels = rng.integers(0, NUM_CLASSES, size)
        self.clouds = [(ball, box, cone)[c](rng) for c in self.labels]
        self.augment = split == "train"

    def __getitem__(self, i):
        points = self.clouds[i] - self.clouds[i].mean(axis=0)
        points = points / np.abs(points).max()
        if self.augment:
            a = np.random.uniform(0, 2 * np.pi)
            turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
            points = points @ turn + np.random.normal(0, 0.02, points.shape)
        return torch.tensor(points, dtype=torch.float32), int(self.labels[i])

    def __len__(self):
        return len(self.labels)


class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1, self.conv2 = nn.Conv1d(k, 32, 1), nn.Conv1d(32, 64, 1)
        self.fc1, self.fc2 = nn.Linear(64, 32), nn.Linear(32, k * k)
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1d(32), nn.BatchNorm1d(64), nn.BatchNorm1d(32)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = torch.max(h, 2)[0]
        h = F.relu(self.bn3(self.fc1(h)))
        return self.fc2(h).view(-1, self.k, self.k) + torch.eye(self.k)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.tnet = TNet(3)
        self.conv1, self.conv2 = nn.Conv1d(3, 32, 1), nn.Conv1d(32, 96, 1)
        self.bn1, self.bn2 = nn.BatchNorm1d(32), nn.BatchNorm1d(96)
        self.fc1, self.fc2 = nn.Linear(96, 32), nn.Linear(32, NUM_CLASSES)
        self.dropout = nn.Dropout(p=0.3)

    def forward(self, points):
        x = points.transpose(2, 1)
        trans = self.tnet(x)
        x = torch.bmm(points, trans).transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x = torch.max(x, 2)[0]
        x = self.dropout(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1), trans


def regularizer(trans):
    eye = torch.eye(trans.size(1))
    return torch.mean(torch.norm(eye - torch.bmm(trans, trans.transpose(2, 1)), dim=(1, 2)))


def run_epoch(net, loader, optimizer=None):
    correct, seen, total_loss = 0, 0, 0.0
    for points, target in tqdm(loader, desc="train" if optimizer else "eval"):
        pred, trans = net(points)
        loss = F.nll_loss(pred, target) + 0.001 * regularizer(trans)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        correct += pred.argmax(1).eq(target).sum().item()
        seen += target.size(0)
        total_loss += loss.item() * target.size(0)
    return total_loss / seen, correct / seen


torch.manual_seed(1)
np.random.seed(1)
train_loader = data.DataLoader(CloudDataset(360, "train"), batch_size=24, shuffle=True)
valid_loader = data.DataLoader(CloudDataset(90, "valid"), batch_size=30)
test_loader = data.DataLoader(CloudDataset(90, "test"), batch_size=30)
net = PointNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.7)
for epoch in range(3):
    net.train()
    train_loss, train_acc = run_epoch(net, train_loader, optimizer)
    net.eval()
    with torch.no_grad():
        valid_loss, valid_acc = run_epoch(net, valid_loader)
    scheduler.step()
    print(f"{epoch} train {train_loss:.3f} {train_acc:.3f} valid {valid_loss:.3f} {valid_acc:.3f}")
net.eval()
with torch.no_grad():
    print("test", run_epoch(net, test_loader))
