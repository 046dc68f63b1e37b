"""REINFORCE on a small lake: find the way over the ice to the goal without falling into a hole."""

import random

import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

SEED = 11
random.seed(SEED)
torch.manual_seed(SEED)

MAP = ["S...", ".H.H", "...H", "H..G"]
MOVES = [(0, -1), (1, 0), (0, 1), (-1, 0)]


class FrozenLake:
    def __init__(self, slip=0.1):
        self.slip = slip

    def reset(self):
        self.row = self.col = 0
        self.steps = 0
        return self.observation()

    def observation(self):
        obs = torch.zeros(16)
        obs[self.row * 4 + self.col] = 1.0
        return obs

    def step(self, action):
        if random.random() < self.slip:
            action = random.randrange(4)
        dr, dc = MOVES[action]
        self.row = min(3, max(0, self.row + dr))
        self.col = min(3, max(0, self.col + dc))
        self.steps += 1
        cell = MAP[self.row][self.col]
        if cell == "G":
            return self.observation(), 1.0, True
        if cell == "H":
            return self.observation(), 0.0, True
        return self.observation(), 0.0, self.steps >= 40


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(16, 32)
        self.affine2 = nn.Linear(32, 4)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = torch.relu(self.affine1(x))
        return torch.softmax(self.affine2(x), dim=-1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
gamma = 0.95
eps = 1e-6


def select_action(state):
    probs = policy(state.unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


env = FrozenLake(slip=0.05)
running_reward = 0.0
wins = []
for i_episode in range(1, 501):
    state, ep_reward = env.reset(), 0
    done = False
    while not done:
        action = select_action(state)
        state, reward, done = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
    running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
    wins.append(ep_reward > 0)
    finish_episode()
    if i_episode % 100 == 0:
        print(f"Episode {i_episode}\tLast: {ep_reward:.2f}\tAverage: {running_reward:.2f}\twon {sum(wins[-100:])} of 100")

# greedy policy
with torch.no_grad():
    arrows = ["<v>^"[policy(torch.eye(16)[i].unsqueeze(0)).argmax().item()] for i in range(16)]
for row in range(4):
    print("".join(arrows[row * 4 : row * 4 + 4]))
