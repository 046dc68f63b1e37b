"""Gradient descent by hand on tensors, as in a first lesson: no module, no optimizer, the gradients set to None."""

import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 200).unsqueeze(1)
y = torch.sin(3 * x) + 0.1 * torch.randn(200, 1)
order = torch.randperm(200)
train, test = order[:150], order[150:]
w1, b1 = torch.randn(1, 32) * 0.5, torch.zeros(32)
w2, b2 = torch.randn(32, 1) * 0.2, torch.zeros(1)
params = [w1, b1, w2, b2]
for p in params:
    p.requires_grad_()


def net(x):
    return torch.tanh(x @ w1 + b1) @ w2 + b2


for step in range(300):
    rows = train[torch.randint(len(train), (32,))]
    loss = ((net(x[rows]) - y[rows]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= 0.1 * p.grad
            p.grad = None
    if step % 50 == 0:
        with torch.no_grad():
            print(step, loss.item(), ((net(x[test]) - y[test]) ** 2).mean().item())
