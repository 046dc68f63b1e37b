"""A hypernetwork: a small net makes the weights of another one for each task; functional_call runs it."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(33)
main = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
for p in main.parameters():
    p.requires_grad_(False)
shapes = {name: p.shape for name, p in main.named_parameters()}
total = sum(s.numel() for s in shapes.values())


class Hyper(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.SiLU(), nn.Linear(48, total))

    def forward(self, task):
        flat = self.net(task) * 0.5
        parts = flat.split([s.numel() for s in shapes.values()])
        return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}


def tasks(n):
    for _ in range(n):
        task = torch.rand(2) * 2 - 1
        x = torch.rand(32, 1) * 4 - 2
        yield task, x, (1 + task[0]) * torch.sin(x + task[1])


hyper = Hyper()
optimizer = torch.optim.Adam(hyper.parameters(), lr=3e-3)
for step in range(100):
    optimizer.zero_grad()
    loss = 0.0
    for task, x, y in tasks(6):
        loss = loss + (functional_call(main, hyper(task), (x,)) - y).pow(2).mean() / 6
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        with torch.no_grad():
            errors = [(functional_call(main, hyper(task), (x,)) - y).pow(2).mean().item() for task, x, y in tasks(20)]
        print(step, loss.item(), sum(errors) / 20)
