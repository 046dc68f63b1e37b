"""Three nets, each with its own optimizer, learn from the same batches; their mean is asked; dropout stays on to see the doubt."""

import torch
from torch import nn

torch.manual_seed(47)


def f(x):
    return torch.sin(3 * x) + 0.3 * x


def make():
    return nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Dropout(0.05), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))


def ask(nets, x):
    for net in nets:
        net.eval()
        for m in net.modules():
            if isinstance(m, nn.Dropout):
                m.train()
    with torch.no_grad():
        out = torch.stack([net(x) for net in nets for _ in range(5)])
    return out.mean(0), out.std(0)


nets = [make() for _ in range(3)]
opts = [torch.optim.Adam(net.parameters(), lr=5e-3) for net in nets]
for epoch in range(30):
    x = torch.rand(64, 1) * 4 - 2
    y = f(x) + 0.05 * torch.randn_like(x)
    for net, opt in zip(nets, opts):
        net.train()
        loss = ((net(x) - y) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        x = torch.linspace(-3, 3, 50).unsqueeze(1)
        mean, std = ask(nets, x)
        print(epoch, loss.item(), (mean - f(x)).abs().mean().item(), std.mean().item())
