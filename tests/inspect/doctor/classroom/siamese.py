"""Whether two signals are of one source: one network for both, a contrastive loss by hand, hard pairs."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
SOURCES = torch.randn(12, 40)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(1, 8, 5, padding=2), nn.Conv1d(8, 16, 5, padding=2)
        self.drop, self.fc = nn.Dropout(0.1), nn.Linear(16 * 10, 16)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.conv1(x[:, None])), 2)
        x = F.max_pool1d(F.relu(self.conv2(x)), 2)
        return self.fc(self.drop(x.flatten(1)))


def pairs(n):
    a, b = torch.randint(12, (n,)), torch.randint(12, (n,))
    b = torch.where(torch.rand(n) < 0.5, a, b)
    noise = lambda: 0.3 * torch.randn(n, 40)
    return SOURCES[a] + noise(), SOURCES[b] + noise(), (a == b).float()


def contrastive(x, y, same, margin=1.0):
    d = (x - y).pow(2).sum(1).add(1e-6).sqrt()
    return (same * d.pow(2) + (1 - same) * F.relu(margin - d).pow(2)).mean()


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(50):
    a, b, same = pairs(32)
    x, y = net(a), net(b)
    loss = contrastive(x, y, same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 12 == 11:
        net.eval()
        with torch.no_grad():
            a, b, same = pairs(64)
            d = (net(a) - net(b)).norm(dim=1)
            print(step, f"{loss.item():.3f}", ((d < 0.5) == same.bool()).float().mean().item())
        net.train()
