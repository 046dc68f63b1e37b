import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--bs", type=int, default=50)
args = parser.parse_args()
torch.manual_seed(1)

CLASSES = ["비행기", "자동차", "새", "고양이", "사슴"]


def load(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, len(CLASSES), (n,), generator=g)
    proto = torch.rand(len(CLASSES), 3, 16, 16, generator=torch.Generator().manual_seed(99))
    x = (proto[y] + 0.35 * torch.randn(n, 3, 16, 16, generator=g)).clamp(0, 1)
    return x, y


x_train, y_train = load(1000, 1)
x_test, y_test = load(300, 2)
mean = x_train.mean(dim=(0, 2, 3), keepdim=True)
std = x_train.std(dim=(0, 2, 3), keepdim=True)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


def augment(x):
    flip = torch.rand(len(x)) < 0.5
    x = x.clone()
    x[flip] = x[flip].flip(-1)
    return x


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, 2)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(x)


model = ResNet(len(CLASSES))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2], gamma=0.1)
best_acc = 0.0

for epoch in range(args.epochs):
    model.train()
    perm = torch.randperm(len(x_train))
    train_loss, correct, seen = 0.0, 0, 0
    for i in range(0, len(perm), args.bs):
        idx = perm[i : i + args.bs]
        inputs, targets = augment(x_train[idx]), y_train[idx]
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        correct += outputs.argmax(1).eq(targets).sum().item()
        seen += targets.size(0)
    scheduler.step()

    model.eval()
    hit = 0
    with torch.no_grad():
        for i in range(0, len(x_test), 100):
            outputs = model(x_test[i : i + 100])
            _, predicted = outputs.max(1)
            hit += predicted.eq(y_test[i : i + 100]).sum().item()
    acc = 100.0 * hit / len(x_test)
    print(f"epoch {epoch}: loss {train_loss / (len(perm) / args.bs):.3f} train {100.0 * correct / seen:.1f}% test {acc:.1f}%")
    if acc > best_acc:
        best_acc = acc
        torch.save({"net": model.state_dict(), "acc": acc, "epoch": epoch}, "ckpt.pth")
print("best", best_acc)
