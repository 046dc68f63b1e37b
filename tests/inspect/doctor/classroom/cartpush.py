"""A cart that must come to rest at a mark: REINFORCE with a learned baseline, returns to go, an entropy bonus, own physics."""

import torch
from torch import nn, optim
from torch.distributions import Categorical

torch.manual_seed(8)


class Track:
    """Many carts at once: place, speed, and the mark; push left, not at all, or right."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.x = torch.rand(self.n) * 4 - 2
        self.v = torch.zeros(self.n)
        self.mark = torch.rand(self.n) * 2 - 1
        return self.observe()

    def observe(self):
        return torch.stack([self.x, self.v, self.mark, self.mark - self.x], dim=1)

    def step(self, action):
        self.v = 0.9 * self.v + 0.2 * (action - 1)
        self.x = self.x + self.v
        reward = -(self.mark - self.x).abs() - 0.1 * self.v.abs()
        return self.observe(), reward


class Policy(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, 3)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, seen):
        h = self.body(seen)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def returns_to_go(rewards, gamma):
    running = torch.zeros_like(rewards[0])
    out = []
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.stack(out[::-1])


def play(env, policy, length):
    seen = env.reset()
    logs, values, entropies, rewards = [], [], [], []
    for _ in range(length):
        dist, value = policy(seen)
        action = dist.sample()
        logs.append(dist.log_prob(action))
        values.append(value)
        entropies.append(dist.entropy())
        seen, reward = env.step(action)
        rewards.append(reward)
    return torch.stack(logs), torch.stack(values), torch.stack(entropies), rewards


@torch.no_grad()
def score(policy, env, length):
    seen, total = env.reset(), 0.0
    for _ in range(length):
        dist, _ = policy(seen)
        seen, reward = env.step(dist.probs.argmax(dim=-1))
        total += reward.mean().item()
    return total


def main(updates=60, length=20, gamma=0.95):
    env, policy = Track(64), Policy()
    optimizer = optim.Adam(policy.parameters(), lr=3e-3)
    for update in range(updates):
        logs, values, entropies, rewards = play(env, policy, length)
        returns = returns_to_go(rewards, gamma)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        advantage = returns - values.detach()
        policy_loss = -(logs * advantage).mean()
        value_loss = (returns - values).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
        if update % 10 == 9:
            print(f"update {update + 1}: loss {loss.item():.3f}, score {score(policy, Track(128), length):.2f}")


if __name__ == "__main__":
    main()
