"""Dropout stays at work in the test on purpose: twenty answers for each row give a mean and a spread."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(400, 1) * 6 - 3
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
grid = torch.linspace(-4, 4, 50).unsqueeze(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1)
        )

    def forward(self, x):
        return self.layers(x)


def uncertain(net, x, passes=20):
    net.eval()
    for module in net.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    with torch.no_grad():
        answers = torch.stack([net(x) for _ in range(passes)])
    net.train()
    return answers.mean(0), answers.std(0)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(200):
    rows = torch.randint(0, 400, (64,))
    loss = nn.functional.mse_loss(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        mean, spread = uncertain(net, grid)
        print(step, loss.item(), spread[20:30].mean().item(), spread[[0, -1]].mean().item())
