"""DDPG on a made-up pendulum: replay memory, actor, critic and their slow copies."""

import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn, optim

GAMMA, TAU, BATCH_SIZE = 0.95, 0.02, 64


class Env:
    def reset(self):
        self.angle, self.speed, self.t = np.random.uniform(-np.pi, np.pi), np.random.uniform(-1, 1), 0
        return self.look()

    def look(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.speed / 4], dtype=np.float32)

    def step(self, torque):
        cost = self.angle**2 + 0.1 * self.speed**2 + 0.01 * torque**2
        self.speed = float(np.clip(self.speed + 0.1 * (5 * np.sin(self.angle) + 3 * torque), -8, 8))
        self.angle = (self.angle + 0.1 * self.speed + np.pi) % (2 * np.pi) - np.pi
        self.t += 1
        return self.look(), -cost / 5, self.t >= 40


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(3, 48), nn.Linear(48, 48), nn.Linear(48, 1)

    def forward(self, state):
        h = torch.relu(self.l1(state))
        return torch.tanh(self.l3(torch.relu(self.l2(h))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(4, 48), nn.Linear(48, 48), nn.Linear(48, 1)

    def forward(self, state, action):
        h = torch.relu(self.l1(torch.cat([state, action], dim=1)))
        return self.l3(torch.relu(self.l2(h)))


class ReplayBuffer:
    def __init__(self, capacity=5000):
        self.memory = deque(maxlen=capacity)

    def push(self, *transition):
        self.memory.append(transition)

    def sample(self, n):
        state, action, reward, next_state, done = zip(*random.sample(self.memory, n))
        return (
            torch.tensor(np.stack(state)),
            torch.tensor(np.array(action, dtype=np.float32)).unsqueeze(1),
            torch.tensor(np.array(reward, dtype=np.float32)).unsqueeze(1),
            torch.tensor(np.stack(next_state)),
            torch.tensor(np.array(done, dtype=np.float32)).unsqueeze(1),
        )


def soft_update(target, source):
    for t, s in zip(target.parameters(), source.parameters()):
        t.data.copy_(TAU * s.data + (1.0 - TAU) * t.data)


class Agent:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.target_actor, self.target_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = optim.Adam(self.critic.parameters(), lr=2e-3)
        self.buffer = ReplayBuffer()

    @torch.no_grad()
    def act(self, state, noise=0.3):
        action = self.actor(torch.from_numpy(state).unsqueeze(0)).item()
        return float(np.clip(action + noise * np.random.randn(), -1, 1))

    def learn(self):
        state, action, reward, next_state, done = self.buffer.sample(BATCH_SIZE)
        with torch.no_grad():
            next_q = self.target_critic(next_state, self.target_actor(next_state))
            target = reward + GAMMA * (1 - done) * next_q
        critic_loss = nn.functional.mse_loss(self.critic(state, action), target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = -self.critic(state, self.actor(state)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        soft_update(self.target_actor, self.actor)
        soft_update(self.target_critic, self.critic)
        return critic_loss.item(), actor_loss.item()


random.seed(2), np.random.seed(2), torch.manual_seed(2)
env, agent = Env(), Agent()
for episode in range(8):
    state, done, score = env.reset(), False, 0.0
    while not done:
        action = agent.act(state)
        next_state, reward, done = env.step(action)
        agent.buffer.push(state, action, reward, next_state, float(done))
        state, score = next_state, score + reward
        if len(agent.buffer.memory) > 2 * BATCH_SIZE:
            losses = agent.learn()
    print("episode", episode, "score", round(score, 2))
