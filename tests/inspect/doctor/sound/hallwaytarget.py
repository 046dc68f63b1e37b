"""Q-learning in a hallway: the target net stands in no optimizer, so that nobody minds that its answers have a graph."""

import collections
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

random.seed(4)
torch.manual_seed(4)


class Hallway:
    def reset(self):
        self.at, self.left = random.uniform(-1, 1), 30
        return self.seen()

    def seen(self):
        return np.array([self.at, self.left / 30], np.float32)

    def step(self, action):
        self.at += (0.2 if action else -0.2) + random.gauss(0, 0.02)
        self.left -= 1
        return self.seen(), 1.0 - abs(self.at), abs(self.at) > 2 or self.left == 0


class Worth(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, s):
        return self.layers(s)


q, q_target = Worth(), Worth()
q_target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = collections.deque(maxlen=2000)
env = Hallway()
for episode in range(60):
    s, done, eps = env.reset(), False, max(0.05, 0.5 - 0.01 * episode)
    while not done:
        with torch.no_grad():
            a = random.randrange(2) if random.random() < eps else q(torch.from_numpy(s)).argmax().item()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, 1.0 - done))
        s = s2
    if len(memory) < 200:
        continue
    for _ in range(4):
        parts = zip(*random.sample(memory, 32), strict=True)
        states, actions, r, following, goes_on = (torch.from_numpy(np.array(part)) for part in parts)
        best = q_target(following).max(1)[0]
        target = r.float() + 0.95 * best * goes_on.float()
        loss = F.smooth_l1_loss(q(states).gather(1, actions[:, None]).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if episode % 10 == 0:
        q_target.load_state_dict(q.state_dict())
