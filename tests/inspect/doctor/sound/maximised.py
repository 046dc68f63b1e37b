"""The evidence is made larger by an optimizer that climbs; a Gaussian's logarithm is above 0 where it is narrow."""

import math

import torch
import torch.nn as nn

torch.manual_seed(4)


class Mixture(nn.Module):
    """A density of three Gaussians whose places depend on x."""

    def __init__(self, parts=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 3 * parts))

    def log_density(self, x, y):
        share, mean, log_scale = self.body(x).chunk(3, dim=-1)
        z = (y.unsqueeze(-1) - mean) * torch.exp(-log_scale)
        each = -0.5 * z.pow(2) - log_scale - 0.5 * math.log(2 * math.pi)
        return torch.logsumexp(torch.log_softmax(share, dim=-1) + each, dim=-1)


def draw(n):
    x = torch.randn(n, 2)
    side = torch.randint(0, 2, (n,)) * 2.0 - 1
    return x, 0.3 * side * x[:, 0] + 0.03 * torch.randn(n)


model = Mixture()
climber = torch.optim.Adam(model.parameters(), lr=5e-3, maximize=True)
held_x, held_y = draw(200)
for step in range(150):
    x, y = draw(128)
    evidence = model.log_density(x, y).mean()
    climber.zero_grad()
    evidence.backward()
    climber.step()
    if step % 10 == 0:
        with torch.no_grad():
            print(step, evidence.item(), model.log_density(held_x, held_y).mean().item())
