"""A walk to the light by REINFORCE with a baseline: an environment of one's own, returns, an entropy bonus."""

import torch
import torch.nn as nn
from torch.distributions import Categorical

GAMMA, SIZE, LIMIT = 0.95, 5, 14


class Grid:
    """Five by five; the walker sees where it is and where the light is."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def place(self):
        return torch.randint(SIZE, (2,), generator=self.generator)

    def reset(self):
        self.at, self.light, self.left = self.place(), self.place(), LIMIT
        return self.view()

    def view(self):
        return torch.cat([self.at, self.light]).float() / (SIZE - 1) * 2 - 1

    def step(self, action):
        move = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])[action]
        before = (self.at - self.light).abs().sum()
        self.at = (self.at + move).clamp(0, SIZE - 1)
        after = (self.at - self.light).abs().sum()
        self.left -= 1
        done = bool(after == 0) or self.left == 0
        return self.view(), float(before - after) - 0.1 + float(after == 0), done


class Agent(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 4))
        self.value = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def act(self, state):
        distribution = Categorical(logits=self.policy(state))
        action = distribution.sample()
        return action.item(), distribution.log_prob(action), distribution.entropy(), self.value(state).squeeze(-1)


def play(env, agent):
    state, done = env.reset(), False
    log_probs, entropies, values, rewards = [], [], [], []
    while not done:
        action, log_prob, entropy, value = agent.act(state)
        state, reward, done = env.step(action)
        log_probs.append(log_prob)
        entropies.append(entropy)
        values.append(value)
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + GAMMA * total
        returns.insert(0, total)
    return torch.stack(log_probs), torch.stack(entropies), torch.stack(values), torch.tensor(returns), sum(rewards)


@torch.no_grad()
def greedy(agent, episodes=20):
    env, total = Grid(999), 0.0
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(agent.policy(state).argmax().item())
            total += reward
    return total / episodes


torch.manual_seed(101)
env, agent = Grid(101), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=4e-3)
for update in range(40):
    episodes = [play(env, agent) for _ in range(6)]
    log_probs, entropies, values, returns = (torch.cat([e[k] for e in episodes]) for k in range(4))
    advantage = returns - values.detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy_loss = -(log_probs * advantage).mean()
    value_loss = nn.functional.mse_loss(values, returns)
    loss = policy_loss + 0.5 * value_loss - 0.01 * entropies.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    if update % 10 == 9:
        played = sum(e[4] for e in episodes) / len(episodes)
        print(f"{update + 1}: played {played:.2f}, greedy {greedy(agent):.2f}")
