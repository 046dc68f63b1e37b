"""A critic with a gradient penalty and a generator that is trained every third time; two optimizers, betas of 0."""

import torch
from torch import nn

torch.manual_seed(4)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))


def real(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(n, 2)


for step in range(120):
    x = real(64)
    with torch.no_grad():
        fake = G(torch.randn(64, 4))
    t = torch.rand(64, 1)
    between = (t * x + (1 - t) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(D(between).sum(), between, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).pow(2).mean()
    loss_d = D(fake).mean() - D(x).mean() + 10 * penalty
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    if step % 3 == 2:
        for p in D.parameters():
            p.requires_grad_(False)
        loss_g = -D(G(torch.randn(64, 4))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        for p in D.parameters():
            p.requires_grad_(True)
        if step % 30 == 29:
            print(step, loss_d.item(), loss_g.item())
