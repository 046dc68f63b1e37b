"""Which weave is it: argparse, a small residual net, GradScaler and accumulation, augmentation on the batch, k folds."""

import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.amp import GradScaler, autocast

parser = argparse.ArgumentParser()
parser.add_argument("--folds", type=int, default=2)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--micro", type=int, default=24)
parser.add_argument("--accum", type=int, default=3)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--smooth", type=float, default=0.05)
args = parser.parse_args()

torch.manual_seed(31)
rng = np.random.default_rng(31)
SIZE, CLASSES = 16, 4


def picture(kind):
    y, x = np.mgrid[:SIZE, :SIZE]
    a, b = rng.uniform(0, 6, 2)
    f = rng.uniform(1.2, 1.6)
    if kind == 0:
        p = np.sin(f * x + a)
    elif kind == 1:
        p = np.sin(f * (x + y) / 2 + a)
    elif kind == 2:
        p = np.sin(f * x + a) * np.sin(f * y + b)
    else:
        p = np.sin(f * y + a)
    tint = rng.uniform(0.6, 1.0, (3, 1, 1))
    return np.clip((p * 0.3 + 0.5)[None] * tint + rng.normal(0, 0.08, (3, SIZE, SIZE)), 0, 1)


labels = rng.integers(0, CLASSES, 720)
images = np.stack([picture(k) for k in labels])
images, labels = (images * 255).astype(np.uint8), labels.astype(np.int64)


class Block(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = (
            nn.Sequential()
            if cin == cout and stride == 1
            else nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        )

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.short(x))


class WeaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.layer1 = Block(8, 8)
        self.layer2 = Block(8, 16, 2)
        self.fc = nn.Linear(16, CLASSES)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return self.fc(x.mean((2, 3)))


def augment(x):
    if torch.rand(1).item() < 0.5:
        x = x.roll(int(torch.randint(-3, 4, (1,))), dims=3)
    return x + 0.02 * torch.randn_like(x)


def prepare(raw, mean, std):
    x = torch.from_numpy(raw).float() / 255
    return (x - mean[None, :, None, None]) / std[None, :, None, None]


def validate(net, x, y):
    net.eval()
    correct, total_loss = 0, 0.0
    with torch.no_grad():
        for i in range(0, len(x), 60):
            out = net(x[i : i + 60])
            total_loss += F.cross_entropy(out, y[i : i + 60], reduction="sum").item()
            correct += (out.argmax(1) == y[i : i + 60]).sum().item()
    return total_loss / len(x), correct / len(x)


order = rng.permutation(len(labels))
chunks = np.array_split(order, 4)
scores = []
for fold in range(args.folds):
    held_idx = chunks[fold]
    train_idx = np.concatenate([c for i, c in enumerate(chunks) if i != fold])
    mean = torch.tensor(images[train_idx].mean((0, 2, 3)) / 255, dtype=torch.float32)
    std = torch.tensor(images[train_idx].std((0, 2, 3)) / 255, dtype=torch.float32)
    x_train, y_train = prepare(images[train_idx], mean, std), torch.from_numpy(labels[train_idx])
    x_held, y_held = prepare(images[held_idx], mean, std), torch.from_numpy(labels[held_idx])

    net = WeaveNet()
    criterion = nn.CrossEntropyLoss(label_smoothing=args.smooth)
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-2)
    updates = args.epochs * math.ceil(len(x_train) / (args.micro * args.accum))
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4 * args.lr, total_steps=updates + 1)
    scaler = GradScaler("cpu")
    best_acc = 0.0
    for epoch in range(args.epochs):
        net.train()
        perm = torch.randperm(len(x_train))
        batches = perm.split(args.micro)
        optimizer.zero_grad()
        for step, idx in enumerate(batches):
            x, y = augment(x_train[idx]), y_train[idx]
            with autocast("cpu", dtype=torch.bfloat16):
                logits = net(x)
                loss = criterion(logits, y) / args.accum
            scaler.scale(loss).backward()
            if (step + 1) % args.accum == 0 or step + 1 == len(batches):
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
                scheduler.step()
        val_loss, val_acc = validate(net, x_held, y_held)
        if val_acc > best_acc:
            best_acc = val_acc
            torch.save(net.state_dict(), f"fold{fold}.pt")
        print(f"fold {fold} epoch {epoch} loss {loss.item() * args.accum:.3f} val {val_loss:.3f} acc {val_acc:.3f}")
    scores.append(best_acc)
print("mean accuracy", np.mean(scores))
