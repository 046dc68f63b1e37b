"""Early stopping: the best weights by the validation's loss are kept and put back, then the test is asked once."""

import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


def moons(n):
    y = torch.randint(0, 2, (n,))
    angle = 3.14159 * torch.rand(n)
    x = torch.stack([angle.cos() + y * 1.0, angle.sin() * (1 - 2 * y) + 0.4 * y], dim=1)
    return TensorDataset(x + 0.15 * torch.randn(n, 2), y)


train_loader, val_loader, test_loader = (
    DataLoader(moons(600), batch_size=30, shuffle=True),
    DataLoader(moons(150), batch_size=40),
    DataLoader(moons(200), batch_size=50),
)


class MLP(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        self.dropout = nn.Dropout(p=0.1)

    def forward(self, x):
        x = self.dropout(torch.tanh(self.fc1(x)))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def evaluate(model, loader):
    model.eval()
    total, correct, seen = 0.0, 0, 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            total += criterion(output, target).item() * data.size(0)
            correct += (output.argmax(dim=1) == target).sum().item()
            seen += data.size(0)
    return total / seen, correct / seen


model = MLP()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
best, best_weights, waited = float("inf"), None, 0
for epoch in range(4):
    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    val_loss, val_acc = evaluate(model, val_loader)
    scheduler.step(val_loss)
    if val_loss < best:
        best, best_weights, waited = val_loss, copy.deepcopy(model.state_dict()), 0
    else:
        waited += 1
        if waited > 2:
            break
    print(epoch, loss.item(), val_loss, val_acc)
model.load_state_dict(best_weights)
print("test", evaluate(model, test_loader))
