"""A network that was trained before gets a new head: the body is frozen, two rates, a warmup by hand."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
        self.layer2 = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.fc = nn.Linear(32, 100)

    def forward(self, x):
        return self.fc(self.layer2(self.layer1(x)).flatten(1))


def images(n):
    y = torch.randint(5, (n,))
    return 0.6 * torch.randn(n, 3, 12, 12) + torch.eye(5)[y][:, :3, None, None] - 0.5 * torch.eye(5)[y][:, 2:, None, None], y


model = Body()
for p in model.layer1.parameters():
    p.requires_grad = False
model.fc = nn.Sequential(nn.Dropout(0.2), nn.Linear(32, 5))
optimizer = torch.optim.SGD(
    [{"params": model.layer2.parameters(), "lr": 0.005}, {"params": model.fc.parameters(), "lr": 0.05}], momentum=0.9
)
base = [group["lr"] for group in optimizer.param_groups]
train_loader = DataLoader(TensorDataset(*images(320)), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(*images(80)), batch_size=40)
it = 0
for epoch in range(3):
    model.train()
    running = correct = 0
    for inputs, targets in train_loader:
        for group, lr in zip(optimizer.param_groups, base):
            group["lr"] = lr * min(1.0, (it + 1) / 8)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = F.cross_entropy(outputs, targets, label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(inputs)
        correct += (outputs.argmax(1) == targets).sum().item()
        it += 1
    model.eval()
    test_correct = 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            test_correct += (model(inputs).argmax(1) == targets).sum().item()
    print(epoch, f"{running / 320:.3f} {correct / 320:.2f} {test_correct / 80:.2f}")
