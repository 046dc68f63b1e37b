"""First-order meta-learning of sine waves (Reptile and an inner loop by functional_call): weights are written by hand."""

import copy
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(14)
model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
outer = torch.optim.Adam(model.parameters(), lr=1e-3)


def wave():
    a, p = torch.rand(()) * 2 + 0.5, torch.rand(()) * math.pi
    return lambda x: a * torch.sin(x + p)


def points(f, n=10):
    x = torch.rand(n, 1) * 10 - 5
    return x, f(x)


for _ in range(40):
    outer.zero_grad()
    for _ in range(4):
        f = wave()
        x, y = points(f)
        weights = dict(model.named_parameters())
        loss = (functional_call(model, weights, (x,)) - y).pow(2).mean()
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        fast = {name: w - 0.05 * g for (name, w), g in zip(weights.items(), slopes, strict=True)}
        x, y = points(f)
        ((functional_call(model, fast, (x,)) - y).pow(2).mean() / 4).backward()
    outer.step()

for _ in range(20):
    old = copy.deepcopy(model.state_dict())
    f = wave()
    inner = torch.optim.SGD(model.parameters(), lr=0.02)
    for _ in range(3):
        x, y = points(f)
        loss = (model(x) - y).pow(2).mean()
        inner.zero_grad()
        loss.backward()
        inner.step()
    new = model.state_dict()
    model.load_state_dict({name: old[name] + 0.1 * (new[name] - old[name]) for name in old})
print(loss.item())
