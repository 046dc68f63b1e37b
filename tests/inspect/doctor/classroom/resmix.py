"""A small ResNet with mixup, label smoothing, an average of the weights, warmup and cosine; the best is kept in a file."""

import argparse
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--wd", type=float, default=5e-4)
    parser.add_argument("--alpha", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="ckpt")
    return parser.parse_args()


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_classes=5):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, stride=2)
        self.layer3 = BasicBlock(16, 24, stride=2)
        self.linear = nn.Linear(24, num_classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.linear(x)


def make_data(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 5, n)
    images = rng.randint(0, 90, (n, 12, 12, 3)).astype(np.float32)
    for i, y in enumerate(labels):
        r, c = rng.randint(0, 6, 2)
        images[i, r : r + 5, c : c + 5, y % 3] += 110 if y < 3 else 160
        if y >= 3:
            images[i, r + 1 : r + 4, c + 1 : c + 4, :] = 20
    images = torch.from_numpy(images).permute(0, 3, 1, 2) / 255.0
    mean = torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
    std = torch.tensor([0.15, 0.15, 0.15]).view(3, 1, 1)
    return TensorDataset((images - mean) / std, torch.from_numpy(labels).long())


def mixup_data(x, y, alpha):
    lam = np.random.beta(alpha, alpha) if alpha > 0 else 1.0
    index = torch.randperm(x.size(0))
    mixed_x = lam * x + (1 - lam) * x[index]
    return mixed_x, y, y[index], lam


class ModelEma:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {k: v.clone().detach() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            if v.dtype.is_floating_point:
                self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)
            else:
                self.shadow[k].copy_(v)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct, total = 0, 0
    for x, y in loader:
        pred = model(x).argmax(1)
        correct += (pred == y).sum().item()
        total += y.numel()
    return 100.0 * correct / total


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    os.makedirs(args.out, exist_ok=True)
    trainloader = DataLoader(make_data(512, 0), batch_size=args.batch_size, shuffle=True, drop_last=True)
    testloader = DataLoader(make_data(128, 1), batch_size=64)
    net = ResNet()
    ema = ModelEma(net)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum, nesterov=True, weight_decay=args.wd)
    warmup = LinearLR(optimizer, start_factor=0.1, total_iters=5)
    cosine = CosineAnnealingLR(optimizer, T_max=args.epochs * len(trainloader) - 5)
    scheduler = SequentialLR(optimizer, [warmup, cosine], milestones=[5])
    best_acc = 0.0
    for epoch in range(args.epochs):
        net.train()
        train_loss = 0.0
        for inputs, targets in trainloader:
            inputs, targets_a, targets_b, lam = mixup_data(inputs, targets, args.alpha)
            outputs = net(inputs)
            loss = lam * criterion(outputs, targets_a) + (1 - lam) * criterion(outputs, targets_b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            ema.update(net)
            train_loss += loss.item()
        acc = evaluate(net, testloader)
        print(f"Epoch {epoch} loss {train_loss / len(trainloader):.3f} acc {acc:.2f}")
        if acc > best_acc:
            best_acc = acc
            torch.save({"net": net.state_dict(), "acc": acc}, os.path.join(args.out, "best.pth"))


if __name__ == "__main__":
    main()
