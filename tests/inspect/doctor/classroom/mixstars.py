"""Star types from spectra: mixup, label smoothing, linear warm-up with cosine decay, weights averaged (EMA)."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    """Curves of 64 numbers: a slope by temperature and dark lines at places that belong to the type."""

    LINES = {0: (8, 30), 1: (12, 44), 2: (20, 51), 3: (27, 58)}

    def __init__(self, n, seed, jitter=0):
        g = torch.Generator().manual_seed(seed)
        grid = torch.arange(64.0)
        self.jitter = jitter
        self.y = torch.randint(0, 4, (n,), generator=g)
        rows = []
        for kind in self.y.tolist():
            slope = 0.02 * torch.randn((), generator=g)
            curve = 1 + slope * (grid - 32) / 3
            for at in self.LINES[kind]:
                depth = 0.25 + 0.35 * torch.rand((), generator=g)
                curve = curve - depth * torch.exp(-((grid - at) ** 2) / 4)
            rows.append(curve + 0.18 * torch.randn(64, generator=g))
        self.x = torch.stack(rows)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        row = self.x[i]
        if self.jitter:
            row = torch.roll(row, int(torch.randint(-self.jitter, self.jitter + 1, (1,))))
        row = (row - row.mean()) / row.std()
        return row.unsqueeze(0), self.y[i]


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv1d(width, width, 5, padding=2)
        self.norm1 = nn.BatchNorm1d(width)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2)
        self.norm2 = nn.BatchNorm1d(width)

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        h = self.norm2(self.conv2(h))
        return F.relu(x + h)


class StarNet(nn.Module):
    def __init__(self, width=16, blocks=2, classes=4):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 7, stride=2, padding=3)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        self.head = nn.Linear(width * 8, classes)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        x = F.adaptive_avg_pool1d(x, 8)
        return self.head(x.flatten(1))


class ModelEMA:
    def __init__(self, model, decay=0.95):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ours, theirs in zip(self.module.state_dict().values(), model.state_dict().values()):
            if ours.dtype.is_floating_point:
                ours.mul_(self.decay).add_(theirs, alpha=1 - self.decay)
            else:
                ours.copy_(theirs)


def mixup(x, y, alpha=0.3):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index], y, y[index], lam


def warmup_cosine(step, warmup, total):
    if step < warmup:
        return (step + 1) / warmup
    progress = (step - warmup) / max(1, total - warmup)
    return 0.5 * (1 + math.cos(math.pi * progress))


@torch.no_grad()
def test(net, loader, criterion):
    net.eval()
    correct, loss_sum, count = 0, 0.0, 0
    for x, y in loader:
        out = net(x)
        loss_sum += criterion(out, y).item() * y.numel()
        correct += out.argmax(dim=1).eq(y).sum().item()
        count += y.numel()
    return loss_sum / count, correct / count


def run(epochs=6, batch_size=32, accumulate=1, lr=4e-3):
    torch.manual_seed(17)
    train_loader = DataLoader(Spectra(960, seed=0, jitter=1), batch_size=batch_size, shuffle=True, drop_last=True)
    valid_loader = DataLoader(Spectra(240, seed=1), batch_size=120)
    test_loader = DataLoader(Spectra(400, seed=2), batch_size=200)
    net = StarNet()
    ema = ModelEMA(net)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=0.02)
    total = epochs * len(train_loader) // accumulate
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: warmup_cosine(s, total // 10, total))
    for epoch in range(epochs):
        net.train()
        meter = 0.0
        for i, (x, y) in enumerate(train_loader):
            x, y_a, y_b, lam = mixup(x, y)
            out = net(x)
            loss = lam * criterion(out, y_a) + (1 - lam) * criterion(out, y_b)
            (loss / accumulate).backward()
            if (i + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 2.0)
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()
                ema.update(net)
            meter += loss.item()
        val_loss, val_acc = test(ema.module, valid_loader, criterion)
        print(f"epoch {epoch}: train {meter / len(train_loader):.3f}, valid (EMA) {val_loss:.3f} / {val_acc:.3f}")
    test_loss, test_acc = test(ema.module, test_loader, criterion)
    print(f"test {test_loss:.3f} / {test_acc:.3f}")


if __name__ == "__main__":
    run()
