"""Domains are not to be told apart: the gradient of their classifier is turned round below it."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.strength * gradient, None


features = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
label_head, domain_head = nn.Linear(16, 3), nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
way = torch.randn(3, 10)


def batch_of(shift, n=32):
    y = torch.randint(0, 3, (n,))
    return way[y] + 0.5 * torch.randn(n, 10) + shift, y


parameters = [*features.parameters(), *label_head.parameters(), *domain_head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
steps = 120
for step in range(steps):
    strength = 2 / (1 + torch.exp(torch.tensor(-10.0 * step / steps)).item()) - 1
    (xs, ys), (xt, yt) = batch_of(0.0), batch_of(0.8)
    both = features(torch.cat([xs, xt]))
    class_loss = F.cross_entropy(label_head(both[:32]), ys)
    domain = torch.cat([torch.zeros(32, 1), torch.ones(32, 1)])
    domain_loss = F.binary_cross_entropy_with_logits(domain_head(Reverse.apply(both, strength)), domain)
    optimizer.zero_grad()
    (class_loss + domain_loss).backward()
    optimizer.step()
    if step % 10 == 9:
        for part in (features, label_head):
            part.eval()
        with torch.no_grad():
            right = (label_head(features(xt)).argmax(1) == yt).float().mean().item()
        for part in (features, label_head):
            part.train()
        print(step, class_loss.item(), domain_loss.item(), right)
