"""Weights are averaged over the last epochs, and batch norm measures again what they give: in train mode, without gradients."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
y = torch.randint(0, 4, (480,))
x = torch.randn(480, 12) + 1.2 * torch.randn(4, 12)[y]
train_loader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
test_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=80)

net = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
averaged = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
count = 0


def measure_again(model, loader):
    """The running averages of batch norm, from scratch."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.reset_running_stats()
            module.momentum = None
    model.train()
    with torch.no_grad():
        for inputs, _ in loader:
            model(inputs)


def accuracy(model):
    model.eval()
    with torch.no_grad():
        right = sum((model(a).argmax(1) == b).sum().item() for a, b in test_loader)
    return right / 80


for epoch in range(6):
    net.train()
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        criterion(net(inputs), labels).backward()
        optimizer.step()
    if epoch >= 1:
        count += 1
        with torch.no_grad():
            for mean, now in zip(averaged.parameters(), net.parameters()):
                mean.copy_(now if count == 1 else mean + (now - mean) / count)
        measure_again(averaged, train_loader)
    print(epoch, accuracy(net), accuracy(averaged))
