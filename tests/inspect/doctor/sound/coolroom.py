"""A policy over one number, whose steps cost something each: what was tried is worse than was thought, and becomes less likely."""

import random

import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional as F

random.seed(8)
torch.manual_seed(8)


class Room:
    def reset(self):
        self.warm, self.left = random.uniform(1, 3), 20
        return [self.warm, self.left / 20]

    def step(self, power):
        self.warm += 0.1 - 0.3 * power
        self.left -= 1
        return [self.warm, self.left / 20], -abs(self.warm) - 0.1 * abs(power), self.left == 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean, self.width, self.worth = nn.Linear(2, 32), nn.Linear(32, 1), nn.Linear(32, 1), nn.Linear(32, 1)

    def pi(self, s):
        h = F.relu(self.body(s))
        return Normal(2 * torch.tanh(self.mean(h)), F.softplus(self.width(h)))

    def v(self, s):
        return self.worth(F.relu(self.body(s)))


net, env = Net(), Room()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)
for _ in range(30):
    rows = []
    for _ in range(4):
        s, done = env.reset(), False
        while not done:
            with torch.no_grad():
                dist = net.pi(torch.tensor(s))
                a = dist.sample()
                before = dist.log_prob(a)
            s2, r, done = env.step(a.item())
            rows.append((s, [a.item()], [r], s2, [before.item()], [1.0 - done]))
            s = s2
    states, tried, r, following, before, goes_on = (torch.tensor(part) for part in zip(*rows, strict=True))
    with torch.no_grad():
        target = r + 0.9 * net.v(following) * goes_on
        advantage = target - net.v(states)
    for part in torch.arange(len(rows)).split(20):
        ratio = (net.pi(states[part]).log_prob(tried[part]) - before[part]).exp()
        gain = torch.min(ratio * advantage[part], ratio.clamp(0.8, 1.2) * advantage[part])
        loss = F.smooth_l1_loss(net.v(states[part]), target[part]) - gain.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
