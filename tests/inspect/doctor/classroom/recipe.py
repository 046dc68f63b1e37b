"""Pictures with a recipe: autocast, accumulation, an EMA, warmup and cosine, label smoothing, mixed groups of weight decay."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    MEAN, STD = 0.35, 0.4

    def __init__(self, n, seed, train):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=g)
        self.x = 0.5 * torch.rand(n, 1, 16, 16, generator=g)
        for i, kind in enumerate(self.y):
            r, c = torch.randint(0, 8, (2,), generator=g).tolist()
            if kind == 0:
                self.x[i, 0, r : r + 8, c : c + 2] += 1.0
            elif kind == 1:
                self.x[i, 0, r : r + 2, c : c + 8] += 1.0
            else:
                self.x[i, 0, r : r + 5, c : c + 5] += 1.0
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = (self.x[i] - self.MEAN) / self.STD
        if self.train and torch.rand(()) < 0.5:
            x = x.flip(-1)
        return x, self.y[i]


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(h)))


class Net(nn.Module):
    def __init__(self, width=12, classes=3):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([ResBlock(width) for _ in range(2)])
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(width, classes))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = self.pool(block(x))
        return self.head(x)


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay, self.model = decay, copy.deepcopy(model).eval()
        for p in self.model.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.model.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(p, alpha=1 - self.decay)
            else:
                e.copy_(p)


def param_groups(model, wd=0.05):
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decay, "weight_decay": wd}, {"params": rest, "weight_decay": 0.0}]


def set_lr(optimizer, step, total, base=4e-3, warmup=6):
    lr = (
        base * (step + 1) / warmup
        if step < warmup
        else base * (0.02 + 0.49 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))))
    )
    for group in optimizer.param_groups:
        group["lr"] = lr


@torch.no_grad()
def accuracy(model, loader):
    was = model.training
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train(was)
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(9)
    train_loader = DataLoader(Shapes(480, 0, True), batch_size=16, shuffle=True)
    val_loader = DataLoader(Shapes(96, 1, False), batch_size=48)
    model, accum, epochs = Net(), 2, 2
    ema = EMA(model)
    optimizer = torch.optim.AdamW(param_groups(model), lr=4e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    total, step = epochs * len(train_loader) // accum, 0
    model.train()
    for epoch in range(epochs):
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x), y, label_smoothing=0.1) / accum
            scaler.scale(loss).backward()
            if (i + 1) % accum == 0:
                set_lr(optimizer, step, total)
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
                ema.update(model)
                step += 1
        print(epoch, loss.item() * accum, accuracy(model, val_loader), accuracy(ema.model, val_loader))


if __name__ == "__main__":
    main()
