"""Evolution strategies: no backward at all; gradients are estimated by mirrored noise, written into .grad."""

import torch
from torch import nn

torch.manual_seed(2)
x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x) + 0.3 * x
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
params = list(net.parameters())


@torch.no_grad()
def fitness():
    return (net(x) - y).pow(2).mean()


for generation in range(60):
    grads = [torch.zeros_like(p) for p in params]
    for _ in range(10):
        noise = [0.05 * torch.randn_like(p) for p in params]
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                for p, n in zip(params, noise):
                    p.add_(sign * n)
                values.append(fitness())
                for p, n in zip(params, noise):
                    p.sub_(sign * n)
        for g, n in zip(grads, noise):
            g += (values[0] - values[1]) / (2 * 0.05**2) * n / 10
    optimizer.zero_grad()
    for p, g in zip(params, grads):
        p.grad = g
    optimizer.step()
    if generation % 20 == 19:
        print(generation, fitness().item())
