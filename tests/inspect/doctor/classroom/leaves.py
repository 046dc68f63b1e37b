"""Leaves of five kinds: an own Dataset with augmentation, residual blocks, mixed classes, OneCycleLR, a function for each phase."""

import math
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

KINDS = 5
MEAN, STD = 0.3, 0.25


def draw(kind, generator):
    """A leaf of `kind + 2` lobes, 3 x 20 x 20, in its own tint."""
    y, x = torch.meshgrid(torch.linspace(-1, 1, 20), torch.linspace(-1, 1, 20), indexing="ij")
    turn = 2 * math.pi * torch.rand((), generator=generator)
    edge = 0.6 + 0.25 * torch.cos((kind + 2) * torch.atan2(y, x) + turn)
    inside = torch.sigmoid(12 * (edge - (x**2 + y**2).sqrt()))
    tint = 0.4 + 0.4 * torch.rand(3, 1, 1, generator=generator)
    return (tint * inside + 0.05 * torch.randn(3, 20, 20, generator=generator)).clamp(0, 1)


class Leaves(Dataset):
    def __init__(self, n, seed):
        generator = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(KINDS, (n,), generator=generator)
        self.pictures = torch.stack([draw(int(k), generator) for k in self.kinds])

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, i):
        return self.pictures[i], self.kinds[i].item()


class Augmented(Dataset):
    def __init__(self, base, train):
        self.base, self.train = base, train

    def __len__(self):
        return len(self.base)

    def __getitem__(self, i):
        x, y = self.base[i]
        if self.train:
            if random.random() < 0.5:
                x = x.flip(-1)
            top, left = random.randint(0, 2), random.randint(0, 2)
            x = F.pad(x, (1, 1, 1, 1))[:, top : top + 20, left : left + 20]
        return (x - MEAN) / STD, y


class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.shortcut = nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + self.shortcut(x))


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.blocks = nn.ModuleList([Block(16, 16, 1), Block(16, 32, 2), Block(32, 32, 2)])
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(32, KINDS)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = x.mean(dim=(2, 3))
        return self.classifier(self.dropout(x))


def train_epoch(model, loader, optimizer, scheduler, criterion):
    model.train()
    running, seen, right = 0.0, 0, 0
    for pictures, kinds in loader:
        optimizer.zero_grad()
        logits = model(pictures)
        loss = criterion(logits, kinds)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item() * len(kinds)
        right += (logits.argmax(1) == kinds).sum().item()
        seen += len(kinds)
    return running / seen, right / seen


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total, right, seen = 0.0, 0, 0
    for pictures, kinds in loader:
        logits = model(pictures)
        total += criterion(logits, kinds).item() * len(kinds)
        right += (logits.argmax(1) == kinds).sum().item()
        seen += len(kinds)
    return total / seen, right / seen


def main():
    random.seed(11)
    torch.manual_seed(11)
    data = Leaves(340, 11)
    order = torch.randperm(len(data)).tolist()
    train_set = Augmented(Subset(data, order[:256]), train=True)
    valid_set = Augmented(Subset(data, order[256:]), train=False)
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=42)
    model = LeafNet()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
    epochs = 3
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(train_loader))
    for epoch in range(epochs):
        loss, accuracy = train_epoch(model, train_loader, optimizer, scheduler, criterion)
        valid_loss, valid_accuracy = evaluate(model, valid_loader, criterion)
        print(f"{epoch + 1}: {loss:.3f} {accuracy:.2%} | {valid_loss:.3f} {valid_accuracy:.2%}")


if __name__ == "__main__":
    main()
