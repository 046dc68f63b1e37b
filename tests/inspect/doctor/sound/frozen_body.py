"""A body that is loaded and frozen, its batch norm kept in eval mode by an own train(), and a head that learns."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class Tuned(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Sequential(nn.Dropout(0.3), nn.Linear(32, 4))
        for p in self.body.parameters():
            p.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.body(x)
        return self.head(h)


centres = torch.randn(4, 10)
y = torch.randint(4, (640,))
x = centres[y] + 0.8 * torch.randn(640, 10)
before = Body()
torch.save(before.state_dict(), "body.pt")
body = Body()
body.load_state_dict(torch.load("body.pt"))
model = Tuned(body)
optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=5e-3)
for epoch in range(5):
    model.train()
    for rows in torch.randperm(512).split(64):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x[512:]).argmax(1) == y[512:]).float().mean().item())
