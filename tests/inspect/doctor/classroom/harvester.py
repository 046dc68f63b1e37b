# DQN: a harvester on a strip of field has to bring wheat home before its fuel runs out
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

SEED = 21
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

BATCH_SIZE = 64
GAMMA = 0.97
EPS_START, EPS_END, EPS_DECAY = 1.0, 0.05, 600
TARGET_EVERY = 50
MEMORY = 4000
LR = 1e-3


class Field:
    """Cells 0 .. 9; home is cell 0. Actions: left, right, harvest."""

    n_actions, n_obs = 3, 4

    def reset(self):
        self.pos, self.load, self.fuel = 0, 0, 40
        self.wheat = np.random.randint(3, 10)
        return self.obs()

    def obs(self):
        return np.array([self.pos / 10, self.load, self.wheat / 10, self.fuel / 40], dtype=np.float32)

    def step(self, a):
        self.fuel -= 1
        reward = -0.01
        if a == 0:
            self.pos = max(0, self.pos - 1)
        elif a == 1:
            self.pos = min(9, self.pos + 1)
        elif self.pos == self.wheat and not self.load:
            self.load, reward = 1, 0.5
        if self.load and self.pos == 0:
            return self.obs(), 1.0, True
        return self.obs(), reward, self.fuel == 0


class DQN(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_obs, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


env = Field()
policy_net = DQN(env.n_obs, env.n_actions)
target_net = DQN(env.n_obs, env.n_actions)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.Adam(policy_net.parameters(), lr=LR)
memory = deque(maxlen=MEMORY)
steps_done = 0


def select_action(state):
    global steps_done
    eps = EPS_END + (EPS_START - EPS_END) * np.exp(-steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() > eps:
        with torch.no_grad():
            return policy_net(torch.from_numpy(state)).argmax().item()
    return random.randrange(env.n_actions)


def optimize_model():
    if len(memory) < 4 * BATCH_SIZE:
        return None
    batch = random.sample(memory, BATCH_SIZE)
    s, a, r, s2, d = zip(*batch)
    s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
    a, r = torch.tensor(a), torch.tensor(r)
    d = torch.tensor(d, dtype=torch.float32)
    q = policy_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        q_next = target_net(s2).max(1)[0]
    expected = r + GAMMA * q_next * (1 - d)
    loss = F.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


returns, loss = [], None
for episode in range(40):
    state, done, total = env.reset(), False, 0.0
    while not done:
        action = select_action(state)
        next_state, reward, done = env.step(action)
        memory.append((state, action, reward, next_state, done))
        state = next_state
        total += reward
        loss = optimize_model()
        if steps_done % TARGET_EVERY == 0:
            target_net.load_state_dict(policy_net.state_dict())
    returns.append(total)
    if (episode + 1) % 10 == 0:
        print(f"episode {episode + 1} mean return {np.mean(returns[-10:]):.3f} loss {loss}")
