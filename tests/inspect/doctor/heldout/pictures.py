"""A convolution net with batch norm over pictures, epochs of a DataLoader, SGD with momentum, a test after each epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
labels = torch.randint(0, 6, (240,))
pictures = torch.randn(240, 3, 10, 10) * 0.7 + (labels.float() / 3 - 1).view(-1, 1, 1, 1)
train = DataLoader(TensorDataset(pictures[:192], labels[:192]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(pictures[192:], labels[192:]), batch_size=16)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(12)])
        self.pool = nn.MaxPool2d(2)
        self.out = nn.Linear(12 * 2 * 2, 6)

    def forward(self, x):
        for conv, norm in zip(self.stages, self.norms):
            x = self.pool(torch.relu(norm(conv(x))))
        return self.out(x.flatten(1))


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(3):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        scores = net(x)
        loss = criterion(scores, y)
        loss.backward()
        optimizer.step()
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in test:
            right += (net(x).argmax(1) == y).sum().item()
    print(epoch, right / 48)
