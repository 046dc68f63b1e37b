"""A robot in a warehouse learns by double Q-learning: a replay buffer, an epsilon that falls, a target that follows slowly."""

import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 6
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

GRID, WALLS, MAX_STEPS = 6, {(2, 1), (2, 2), (2, 3), (4, 3), (4, 4)}, 30
Transition = namedtuple("Transition", "state action reward next_state done")


class Warehouse:
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def reset(self):
        free = [(r, c) for r in range(GRID) for c in range(GRID) if (r, c) not in WALLS]
        self.robot, self.shelf = random.sample(free, 2)
        self.steps = 0
        return self.state()

    def state(self):
        near = [float(self.blocked(self.robot[0] + dr, self.robot[1] + dc)) for dr, dc in self.moves]
        place = np.array([*self.robot, *self.shelf], dtype=np.float32) / GRID
        return np.concatenate([place, place[2:] - place[:2], near]).astype(np.float32)

    def blocked(self, r, c):
        return not (0 <= r < GRID and 0 <= c < GRID) or (r, c) in WALLS

    def step(self, action):
        dr, dc = self.moves[action]
        r, c = self.robot[0] + dr, self.robot[1] + dc
        reward = -0.05
        if self.blocked(r, c):
            reward -= 0.1
        else:
            self.robot = (r, c)
        self.steps += 1
        arrived = self.robot == self.shelf
        if arrived:
            reward = 1.0
        return self.state(), reward, arrived or self.steps >= MAX_STEPS


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, size):
        batch = Transition(*zip(*random.sample(self.memory, size)))
        states = torch.tensor(np.array(batch.state))
        actions = torch.tensor(batch.action).unsqueeze(1)
        rewards = torch.tensor(batch.reward, dtype=torch.float32)
        next_states = torch.tensor(np.array(batch.next_state))
        dones = torch.tensor(batch.done, dtype=torch.float32)
        return states, actions, rewards, next_states, dones

    def __len__(self):
        return len(self.memory)


class QNet(nn.Module):
    def __init__(self, inputs=10, hidden=64, actions=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, actions)

    def forward(self, x):
        h = self.trunk(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


class Agent:
    def __init__(self, gamma=0.95, lr=1e-3, tau=0.02):
        self.gamma, self.tau = gamma, tau
        self.online, self.target = QNet(), QNet()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return self.online(torch.from_numpy(state).unsqueeze(0)).argmax(dim=1).item()

    def learn(self, batch):
        states, actions, rewards, next_states, dones = batch
        q = self.online(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            best = self.online(next_states).argmax(dim=1, keepdim=True)
            q_next = self.target(next_states).gather(1, best).squeeze(1)
            target = rewards + self.gamma * q_next * (1 - dones)
        loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.data.mul_(1 - self.tau).add_(fast.data, alpha=self.tau)
        return loss.item()


env, agent, buffer = Warehouse(), Agent(), ReplayBuffer(5000)
epsilon, rewards_seen = 1.0, []
for episode in range(25):
    state, done, total = env.reset(), False, 0.0
    while not done:
        action = agent.act(state, epsilon)
        next_state, reward, done = env.step(action)
        buffer.push(state, action, reward, next_state, done)
        state = next_state
        total += reward
        if len(buffer) >= 200:
            loss = agent.learn(buffer.sample(64))
    epsilon = max(0.05, epsilon * 0.97)
    rewards_seen.append(total)
    if episode % 5 == 4:
        print(episode, f"epsilon {epsilon:.2f} reward {np.mean(rewards_seen[-5:]):.2f}")
