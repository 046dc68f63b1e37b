"""Q-learning on a line of eight places: a memory, a target net that is copied now and then."""

import random
from collections import deque

import torch
import torch.nn as nn

torch.manual_seed(0)
random.seed(0)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, s):
        return self.net(s)


def one_hot(place):
    x = torch.zeros(8)
    x[place] = 1.0
    return x


policy, target = QNet(), QNet()
target.load_state_dict(policy.state_dict())
target.eval()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
memory, gamma, eps, updates = deque(maxlen=500), 0.95, 1.0, 0
for episode in range(12):
    place = 3
    for _ in range(20):
        if random.random() < eps:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = policy(one_hot(place).unsqueeze(0)).argmax(1).item()
        new = min(7, max(0, place + (1 if action else -1)))
        reward, done = (1.0, True) if new == 7 else (-0.02, new == 0)
        memory.append((one_hot(place), action, reward, one_hot(new), float(done)))
        place = new
        if len(memory) >= 24:
            s, a, r, n, d = zip(*random.sample(memory, 16))
            s, n = torch.stack(s), torch.stack(n)
            a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d)
            q = policy(s).gather(1, a.unsqueeze(1)).squeeze(1)
            with torch.no_grad():
                best = target(n).max(1).values
            loss = nn.functional.smooth_l1_loss(q, r + gamma * best * (1 - d))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(policy.parameters(), 10.0)
            optimizer.step()
            updates += 1
            if updates % 15 == 0:
                target.load_state_dict(policy.state_dict())
        if done:
            break
    eps = max(0.1, eps * 0.9)
    print(episode, place, eps)
