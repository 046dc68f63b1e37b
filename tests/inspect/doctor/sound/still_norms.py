"""A net that has learnt shapes learns others: its batch norms stay in eval mode while all else learns."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(23)


def pictures(n, kinds):
    x, y = 0.2 * torch.randn(n, 1, 12, 12), torch.randint(kinds, (n,))
    for i, k in enumerate(y.tolist()):
        r = int(torch.randint(0, 3, ()))
        if k % 3 == 0:
            x[i, 0, 3 + r, 2:10] += 1.5
        elif k % 3 == 1:
            x[i, 0, 2:10, 3 + r] += 1.5
        else:
            x[i, 0, 4 + r : 8 + r, 4:8] += 1.0
        if k >= 3:
            x[i, 0, :2] += 1.0
    return x, y


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1),
            nn.BatchNorm2d(24),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Linear(96, classes)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def fit(net, optimizer, x, y, steps, still=False):
    net.train()
    if still:
        for module in net.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
    for _ in range(steps):
        rows = torch.randint(len(x), (32,))
        loss = F.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


old_x, old_y = pictures(500, 3)
new_x, new_y = pictures(240, 6)
test_x, test_y = pictures(200, 6)
net = Net(3)
print(fit(net, torch.optim.Adam(net.parameters(), lr=5e-3), old_x, old_y, 14))
net.head = nn.Linear(96, 6)
groups = [{"params": net.features.parameters(), "lr": 5e-4}, {"params": net.head.parameters()}]
optimizer = torch.optim.Adam(groups, lr=5e-3)
for _ in range(4):
    print(fit(net, optimizer, new_x, new_y, 15, still=True), accuracy(net, test_x, test_y))
