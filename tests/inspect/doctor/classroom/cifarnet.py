"""Train a small ResNet on CIFAR-like pictures, with checkpoints (after a well-known repository)."""

import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
classes = ("plane", "car", "bird", "cat", "deer")
MEAN, STD = torch.tensor([0.45, 0.45, 0.45]).view(3, 1, 1), torch.tensor([0.23, 0.23, 0.23]).view(3, 1, 1)


class Textures(Dataset):
    """Pictures (3, 20, 20) from 0 to 1: each class has a texture of its own, in colours that vary."""

    def __init__(self, n, train, seed):
        g = torch.Generator().manual_seed(seed)
        self.train = train
        self.targets = torch.randint(len(classes), (n,), generator=g)
        y, x = torch.meshgrid(torch.arange(20.0), torch.arange(20.0), indexing="ij")
        data = []
        for t in self.targets.tolist():
            phase = 6.28 * torch.rand(1, generator=g)
            waves = [
                torch.sin(0.9 * x + phase),
                torch.sin(0.9 * y + phase),
                torch.sin(0.65 * (x + y) + phase),
                torch.sin(0.9 * x + phase) * torch.sin(0.9 * y + phase),
                torch.sin(0.6 * ((x - 10) ** 2 + (y - 10) ** 2).sqrt() + phase),
            ]
            colour = 0.4 * torch.rand(3, 1, 1, generator=g) + 0.1
            data.append(0.45 + colour * waves[t] + 0.12 * torch.randn(3, 20, 20, generator=g))
        self.data = torch.stack(data).clamp(0, 1)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        img = self.data[index]
        if self.train:
            img = F.pad(img, (2, 2, 2, 2))
            top, left = torch.randint(0, 5, (2,)).tolist()
            img = img[:, top : top + 20, left : left + 20]
            if torch.rand(1).item() < 0.5:
                img = img.flip(-1)
        return (img - MEAN) / STD, self.targets[index]


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, kernel_size=1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_blocks=(1, 1, 1), num_classes=5):
        super().__init__()
        self.in_planes = 12
        self.conv1 = nn.Conv2d(3, 12, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(12)
        self.layer1 = self._make_layer(12, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(24, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(48, num_blocks[2], stride=2)
        self.linear = nn.Linear(48, num_classes)

    def _make_layer(self, planes, num_blocks, stride):
        layers = []
        for s in [stride] + [1] * (num_blocks - 1):
            layers.append(BasicBlock(self.in_planes, planes, s))
            self.in_planes = planes
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        out = F.avg_pool2d(out, 5).view(out.size(0), -1)
        return self.linear(out)


print("==> Preparing data..")
trainloader = DataLoader(Textures(1280, train=True, seed=0), batch_size=64, shuffle=True)
testloader = DataLoader(Textures(300, train=False, seed=1), batch_size=100, shuffle=False)
print("==> Building model..")
net = ResNet()
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
epochs = 4
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
best_acc = 0


def train(epoch):
    net.train()
    train_loss, correct, total = 0, 0, 0
    for inputs, targets in trainloader:
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()
    print(f"epoch {epoch} train loss {train_loss / len(trainloader):.3f} acc {100.0 * correct / total:.1f}% ({correct}/{total})")


def test(epoch):
    global best_acc
    net.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in testloader:
            _, predicted = net(inputs).max(1)
            total += targets.size(0)
            correct += predicted.eq(targets).sum().item()
    acc = 100.0 * correct / total
    print(f"epoch {epoch} test acc {acc:.1f}%")
    if acc > best_acc:
        os.makedirs("checkpoint", exist_ok=True)
        torch.save({"net": net.state_dict(), "acc": acc, "epoch": epoch}, "./checkpoint/ckpt.pth")
        best_acc = acc


started = time.time()
for epoch in range(epochs):
    train(epoch)
    test(epoch)
    scheduler.step()
print(f"done in {time.time() - started:.0f}s, best {best_acc:.1f}%")
