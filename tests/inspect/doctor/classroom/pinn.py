"""A network that obeys an equation: u'' = -u, u(0) = 0, u'(0) = 1, by derivatives of the network."""

import torch
from torch import nn

torch.manual_seed(31)
u = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(u.parameters(), lr=3e-3)
for step in range(50):
    t = (torch.rand(64, 1) * 3).requires_grad_(True)
    y = u(t)
    dy = torch.autograd.grad(y, t, torch.ones_like(y), create_graph=True)[0]
    ddy = torch.autograd.grad(dy, t, torch.ones_like(dy), create_graph=True)[0]
    zero = torch.zeros(1, 1, requires_grad=True)
    y0 = u(zero)
    dy0 = torch.autograd.grad(y0, zero, create_graph=True)[0]
    physics = ((ddy + y) ** 2).mean()
    begin = (y0**2).mean() + ((dy0 - 1) ** 2).mean()
    loss = physics + begin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        print(step, physics.item(), begin.item())
