"""A policy over a number that is pushed to 0, with two critics and their slow copies; each net has an optimizer of its own."""

import collections
import random

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional as F

random.seed(6)
torch.manual_seed(6)


class Slope:
    def reset(self):
        self.x, self.v, self.left = random.uniform(-1, 1), 0.0, 25
        return np.array([self.x, self.v], np.float32)

    def step(self, push):
        self.v = 0.9 * self.v + 0.2 * push
        self.x += 0.2 * self.v
        self.left -= 1
        return np.array([self.x, self.v], np.float32), -(self.x**2) - 0.01 * push**2, self.left == 0


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean, self.width = nn.Linear(2, 32), nn.Linear(32, 1), nn.Linear(32, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)

    def forward(self, s):
        h = F.relu(self.body(s))
        dist = Normal(self.mean(h), F.softplus(self.width(h)))
        raw = dist.rsample()
        return torch.tanh(raw), dist.log_prob(raw) - torch.log(1 - torch.tanh(raw) ** 2 + 1e-6)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_state, self.of_push, self.out = nn.Linear(2, 24), nn.Linear(1, 24), nn.Linear(48, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=2e-3)

    def forward(self, s, a):
        return self.out(torch.cat([F.relu(self.of_state(s)), F.relu(self.of_push(a))], dim=1))

    def learn(self, target, s, a):
        loss = F.smooth_l1_loss(self(s, a), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def hand_on(self, copy):
        for slow, fast in zip(copy.parameters(), self.parameters(), strict=True):
            slow.data.copy_(slow.data * 0.99 + fast.data * 0.01)


actor, q1, q2, slow1, slow2 = Actor(), Critic(), Critic(), Critic(), Critic()
slow1.load_state_dict(q1.state_dict())
slow2.load_state_dict(q2.state_dict())
memory = collections.deque(maxlen=5000)
env = Slope()
for _ in range(60):
    s, done = env.reset(), False
    while not done:
        with torch.no_grad():
            a = actor(torch.from_numpy(s))[0].item()
        s2, r, done = env.step(2 * a)
        memory.append((s, [a], [r], s2, [1.0 - done]))
        s = s2
    for _ in range(3 if len(memory) > 300 else 0):
        parts = zip(*random.sample(memory, 32), strict=True)
        states, pushes, r, following, goes_on = (torch.from_numpy(np.array(part, np.float32)) for part in parts)
        with torch.no_grad():
            then, log_prob = actor(following)
            worth = torch.min(slow1(following, then), slow2(following, then))
            target = r + 0.97 * goes_on * (worth - 0.05 * log_prob)
        q1.learn(target, states, pushes)
        q2.learn(target, states, pushes)
        tried, log_prob = actor(states)
        loss = (0.05 * log_prob - torch.min(q1(states, tried), q2(states, tried))).mean()
        actor.optimizer.zero_grad()
        loss.backward()
        actor.optimizer.step()
        q1.hand_on(slow1)
        q2.hand_on(slow2)
