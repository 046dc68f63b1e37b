"""Small pictures with flips and noise in training alone, per-channel statistics, OneCycle, accuracy over the held-out part."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
CLASSES, EPOCHS, BATCH = 5, 2, 32


def make(n):
    y = torch.randint(CLASSES, (n,))
    x = torch.rand(n, 3, 12, 12) * 0.5
    for c in range(CLASSES):
        x[y == c, c % 3, 2 * c : 2 * c + 3] += 0.5
    return x, y


train_x, train_y = make(480)
test_x, test_y = make(160)
MEAN, STD = train_x.mean((0, 2, 3), keepdim=True), train_x.std((0, 2, 3), keepdim=True)


def normalize(x):
    return (x - MEAN) / STD


def augment(x):
    flip = torch.rand(len(x)) < 0.5
    x = torch.where(flip[:, None, None, None], x.flip(-1), x)
    return x + 0.05 * torch.randn_like(x)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.bn1, self.bn2, self.fc = nn.BatchNorm2d(16), nn.BatchNorm2d(32), nn.Linear(32 * 9, CLASSES)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(self.dropout(x.flatten(1)))


model = ConvNet()
steps_per_epoch = len(train_x) // BATCH
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, epochs=EPOCHS, steps_per_epoch=steps_per_epoch)

for epoch in range(EPOCHS):
    model.train()
    perm = torch.randperm(len(train_x))
    for b in range(steps_per_epoch):
        idx = perm[b * BATCH : (b + 1) * BATCH]
        images, labels = normalize(augment(train_x[idx])), train_y[idx]
        opt.zero_grad()
        outputs = model(images)
        loss = F.cross_entropy(outputs, labels)
        loss.backward()
        opt.step()
        sched.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for b in range(0, len(test_x), 40):
            images, labels = normalize(test_x[b : b + 40]), test_y[b : b + 40]
            correct += (model(images).argmax(dim=1) == labels).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {correct / len(test_x):.3f}")
