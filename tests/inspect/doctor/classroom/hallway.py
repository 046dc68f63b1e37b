import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

random.seed(0)
torch.manual_seed(0)
GAMMA = 0.95


class Corridor:
    """왼쪽/오른쪽으로 움직여 끝에 도착하면 보상 1"""

    def __init__(self, length=7):
        self.length = length

    def reset(self):
        self.pos, self.t = self.length // 2, 0
        return self.observe()

    def observe(self):
        obs = [0.0] * self.length
        obs[self.pos] = 1.0
        return obs

    def step(self, action):
        self.pos = max(0, min(self.length - 1, self.pos + (1 if action == 1 else -1)))
        self.t += 1
        done = self.pos == self.length - 1 or self.t >= 20
        reward = 1.0 if self.pos == self.length - 1 else -0.02
        return self.observe(), reward, done, {}


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.affine1 = nn.Linear(n_obs, 32)
        self.action_head = nn.Linear(32, n_act)
        self.value_head = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


env = Corridor()
policy = Policy(7, 2)
optimizer = optim.Adam(policy.parameters(), lr=0.01)
scores = deque(maxlen=20)
for episode in range(60):
    state, done = env.reset(), False
    log_probs, values, rewards = [], [], []
    while not done:
        probs, value = policy(torch.tensor(state))
        dist = Categorical(probs)
        action = dist.sample()
        state, reward, done, _ = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        values.append(value.squeeze())
        rewards.append(reward)
    returns, R = [], 0.0
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    values = torch.stack(values)
    advantage = returns - values.detach()
    policy_loss = -(torch.stack(log_probs) * advantage).sum()
    value_loss = F.smooth_l1_loss(values, returns, reduction="sum")
    optimizer.zero_grad()
    (policy_loss + value_loss).backward()
    optimizer.step()
    scores.append(sum(rewards))
    if episode % 20 == 19:
        print(f"episode {episode + 1} mean reward {sum(scores) / len(scores):.2f}")
