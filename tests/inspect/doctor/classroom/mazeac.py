"""Advantage actor-critic on a small maze (one-step returns of whole episodes, entropy bonus)."""

from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Maze:
    LAYOUT = ["S..#.", ".#.#.", ".#...", "...#.", "#..#G"]
    MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, max_steps=40):
        self.cells = [(r, c) for r in range(5) for c in range(5) if self.LAYOUT[r][c] != "#"]
        self.index = {cell: i for i, cell in enumerate(self.cells)}
        self.max_steps = max_steps

    def _obs(self):
        return F.one_hot(torch.tensor(self.index[self.pos]), len(self.cells)).float()

    def reset(self):
        self.pos, self.t = (0, 0), 0
        return self._obs()

    def step(self, action):
        dr, dc = self.MOVES[action]
        target = (self.pos[0] + dr, self.pos[1] + dc)
        if target in self.index:
            self.pos = target
        self.t += 1
        goal = self.pos == (4, 4)
        reward = 1.0 if goal else -0.02
        return self._obs(), reward, goal or self.t >= self.max_steps


class ActorCritic(nn.Module):
    def __init__(self, n_states, n_actions, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_states, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, state):
        h = self.body(state)
        return self.actor(h), self.critic(h).squeeze(-1)


def discounted(rewards, gamma):
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.append(running)
    returns.reverse()
    return torch.tensor(returns)


class A2CAgent:
    def __init__(self, env, gamma=0.97, lr=8e-3, value_coef=0.5, entropy_coef=0.02):
        self.env, self.gamma = env, gamma
        self.value_coef, self.entropy_coef = value_coef, entropy_coef
        self.net = ActorCritic(len(env.cells), 4)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)

    def play(self):
        log_probs, values, rewards, entropies = [], [], [], []
        state, done = self.env.reset(), False
        while not done:
            logits, value = self.net(state)
            dist = Categorical(logits=logits)
            action = dist.sample()
            next_state, reward, done = self.env.step(action.item())
            log_probs.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            values.append(value)
            rewards.append(reward)
            state = next_state
        return log_probs, values, rewards, entropies

    def update(self, log_probs, values, rewards, entropies):
        returns = discounted(rewards, self.gamma)
        values = torch.stack(values)
        advantages = returns - values.detach()
        policy_loss = -(torch.stack(log_probs) * advantages).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = torch.stack(entropies).mean()
        loss = policy_loss + self.value_coef * value_loss - self.entropy_coef * entropy
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()
        return loss.item()

    def greedy_return(self):
        state, done, total = self.env.reset(), False, 0.0
        with torch.no_grad():
            while not done:
                logits, _ = self.net(state)
                state, reward, done = self.env.step(logits.argmax().item())
                total += reward
        return total


def main():
    torch.manual_seed(5)
    agent = A2CAgent(Maze())
    window = deque(maxlen=50)
    for episode in range(1, 301):
        log_probs, values, rewards, entropies = agent.play()
        loss = agent.update(log_probs, values, rewards, entropies)
        window.append(sum(rewards))
        if episode % 50 == 0:
            print(f"episode {episode} | mean return {sum(window) / len(window):.3f} | loss {loss:.3f}")
    print(f"greedy return {agent.greedy_return():.3f}")


if __name__ == "__main__":
    main()
