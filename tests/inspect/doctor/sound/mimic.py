"""A policy that imitates and then improves: states kept before and after, a minimum of two losses, entropy that is asked for."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

rng = np.random.default_rng(9)
torch.manual_seed(9)
GAMMA, T = 0.9, 10


class Line:
    """Walk on a line of nine places to the lamp."""

    def __init__(self, n):
        self.n, self.at, self.lamp = n, rng.integers(0, 9, n), rng.integers(0, 9, n)

    def look(self):
        return torch.tensor(np.stack([self.at / 9, self.lamp / 9], axis=1)).float()

    def step(self, action):
        before = np.abs(self.at - self.lamp)
        self.at = np.clip(self.at + action.numpy() - 1, 0, 8)
        return self.look(), torch.tensor(before - np.abs(self.at - self.lamp)).float()


policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=5e-3)
for _ in range(8):
    seen = Line(64).look()
    loss = F.cross_entropy(policy(seen), (seen[:, 1] - seen[:, 0]).sign().long() + 1, label_smoothing=0.3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for update in range(40):
    line = Line(32)
    obs = line.look()
    states, actions, rewards, logs = [obs], [], [], []
    for _ in range(T):
        with torch.no_grad():
            choice = Categorical(logits=policy(obs))
        action = choice.sample()
        obs, reward = line.step(action)
        states.append(obs)
        actions.append(action)
        rewards.append(reward)
        logs.append(choice.log_prob(action))
    returns, total = [], torch.zeros(32)
    for t in range(T):
        total = rewards[T - 1 - t] + GAMMA * total
        returns.insert(0, total)
    states, actions, returns, logs = torch.stack(states[:-1]), torch.stack(actions), torch.stack(returns), torch.stack(logs)
    value = critic(states.flatten(0, 1)).squeeze(1)
    advantage = returns.flatten() - value.detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    now = Categorical(logits=policy(states.flatten(0, 1)))
    ratio = (now.log_prob(actions.flatten()) - logs.flatten()).exp()
    gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    objective = gain + 0.01 * now.entropy().mean()
    loss = -objective + 0.5 * F.mse_loss(value, returns.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 9:
        print(update, loss.item(), torch.stack(rewards).sum(0).mean().item())
