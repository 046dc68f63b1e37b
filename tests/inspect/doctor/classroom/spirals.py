"""Three spirals, a plain loop with loaders, a test at the end of each epoch."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(1)
t = torch.rand(480)
c = torch.randint(0, 3, (480,))
angle = t * 6 + c * 2.1
X = torch.stack([t * angle.cos(), t * angle.sin()], 1) + 0.02 * torch.randn(480, 2)
train_set, test_set = random_split(TensorDataset(X, c), [384, 96])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=32)
model = nn.Sequential(
    nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)


def test(loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in loader:
            pred = model(xb)
            correct += (pred.argmax(1) == yb).sum().item()
    return correct / len(loader.dataset)


for epoch in range(6):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    scheduler.step()
    print(epoch, running / len(train_loader), test(test_loader))
