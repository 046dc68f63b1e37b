"""A net of triplets: what is alike comes near, what is not goes away; checked by the nearest neighbour."""

import torch
from torch import nn

torch.manual_seed(43)
centres = torch.randn(10, 14) * 1.5


def draw(labels):
    return centres[labels] + torch.randn(len(labels), 14)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(14, 48), nn.PReLU(), nn.Linear(48, 8))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=-1)


net = Embedder()
loss_fn = nn.TripletMarginLoss(margin=0.5)
optim = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.MultiStepLR(optim, milestones=[30, 45], gamma=0.1)
for it in range(60):
    a = torch.randint(0, 10, (32,))
    n = (a + torch.randint(1, 10, (32,))) % 10
    anchor, positive, negative = net(draw(a)), net(draw(a)), net(draw(n))
    loss = loss_fn(anchor, positive, negative)
    optim.zero_grad()
    loss.backward()
    optim.step()
    sched.step()
    if it % 15 == 14:
        with torch.no_grad():
            y = torch.arange(10).repeat(3)
            z = net(draw(y))
            d = torch.cdist(z, z) + torch.eye(30) * 9
            print(it, loss.item(), (y[d.argmin(1)] == y).float().mean().item())
