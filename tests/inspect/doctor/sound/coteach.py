"""Co-teaching: a third of the labels is wrong; two nets choose for each other the rows with the smallest losses."""

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
centres = torch.randn(5, 12) * 1.2
clean = torch.randint(5, (1200,))
x = centres[clean] + torch.randn(1200, 12)
noisy = clean.clone()
wrong = torch.rand(1200) < 0.3
noisy[wrong] = (noisy[wrong] + torch.randint(1, 5, (int(wrong.sum()),))) % 5
loader = DataLoader(TensorDataset(x[:1000], noisy[:1000]), batch_size=64, shuffle=True, drop_last=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, 64), nn.Linear(64, 5)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


one, two = Net(), Net()
opt_one, opt_two = optim.Adam(one.parameters(), lr=3e-3), optim.Adam(two.parameters(), lr=3e-3)
for epoch in range(5):
    keep = 1 - min(0.3, 0.1 * epoch)
    for xb, yb in loader:
        logits_one, logits_two = one(xb), two(xb)
        with torch.no_grad():
            n = int(keep * len(xb))
            small_one = F.cross_entropy(logits_one, yb, reduction="none").argsort()[:n]
            small_two = F.cross_entropy(logits_two, yb, reduction="none").argsort()[:n]
        loss_one = F.cross_entropy(logits_one[small_two], yb[small_two])
        loss_two = F.cross_entropy(logits_two[small_one], yb[small_one])
        opt_one.zero_grad()
        loss_one.backward()
        opt_one.step()
        opt_two.zero_grad()
        loss_two.backward()
        opt_two.step()
    with torch.no_grad():
        right = (one(x[1000:]).argmax(1) == clean[1000:]).float().mean()
    print(epoch, keep, right.item())
