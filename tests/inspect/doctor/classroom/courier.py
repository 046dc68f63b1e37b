# A courier in a small town: many towns at once in NumPy, an actor and a critic, returns of n steps with GAE
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SIZE, ENVS, T = 5, 16, 12
GAMMA, LAM, ENT, VF = 0.95, 0.9, 0.01, 0.5
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Towns:
    """Walk to the parcel, then to the door; each step costs, each delivery pays."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.pos, self.parcel, self.door = (self.rng.integers(0, SIZE, (n, 2)) for _ in range(3))
        self.carry, self.clock = np.zeros(n, bool), np.zeros(n, int)

    def observe(self):
        goal = np.where(self.carry[:, None], self.door, self.parcel)
        return np.concatenate(
            [self.pos / SIZE, goal / SIZE, (goal - self.pos) / SIZE, self.carry[:, None], self.clock[:, None] / 20], axis=1
        ).astype(np.float32)

    def step(self, action):
        before = self.distance()
        self.pos = np.clip(self.pos + MOVES[action], 0, SIZE - 1)
        reward = 0.2 * (before - self.distance()) - 0.05
        self.clock += 1
        at_parcel = ~self.carry & (self.pos == self.parcel).all(1)
        delivered = self.carry & (self.pos == self.door).all(1)
        reward = reward + 0.5 * at_parcel + 1.0 * delivered
        self.carry |= at_parcel
        done = delivered | (self.clock >= 20)
        for i in np.flatnonzero(done):
            self.pos[i], self.parcel[i], self.door[i] = self.rng.integers(0, SIZE, (3, 2))
            self.carry[i], self.clock[i] = False, 0
        return self.observe(), reward.astype(np.float32), done.astype(np.float32)

    def distance(self):
        goal = np.where(self.carry[:, None], self.door, self.parcel)
        return np.abs(goal - self.pos).sum(1)


class ActorCritic(nn.Module):
    def __init__(self, obs=8, hidden=64, actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, actions)
        self.v = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)

    def forward(self, obs):
        h = self.body(obs)
        return self.pi(h), self.v(h).squeeze(-1)


def gae(rewards, values, dones, last_value):
    advantages = torch.zeros_like(rewards)
    running = torch.zeros(ENVS)
    for t in reversed(range(T)):
        following = last_value if t == T - 1 else values[t + 1]
        alive = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * following * alive - values[t]
        running = delta + GAMMA * LAM * alive * running
        advantages[t] = running
    return advantages


def evaluate(net, episodes_of=60):
    towns = Towns(32, seed=999)
    total = np.zeros(32)
    obs = towns.observe()
    with torch.no_grad():
        for _ in range(episodes_of):
            logits, _ = net(torch.from_numpy(obs))
            obs, reward, _ = towns.step(logits.argmax(-1).numpy())
            total += reward
    return total.mean()


torch.manual_seed(4)
np.random.seed(4)
env = Towns(ENVS, seed=4)
net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5)
obs = env.observe()
for update in range(60):
    states, actions, rewards, dones, values = [], [], [], [], []
    for _ in range(T):
        state = torch.from_numpy(obs)
        with torch.no_grad():
            logits, value = net(state)
        action = Categorical(logits=logits).sample()
        obs, reward, done = env.step(action.numpy())
        states.append(state)
        actions.append(action)
        values.append(value)
        rewards.append(torch.from_numpy(reward))
        dones.append(torch.from_numpy(done))
    with torch.no_grad():
        last_value = net(torch.from_numpy(obs))[1]
    states, actions, values = torch.stack(states), torch.stack(actions), torch.stack(values)
    rewards, dones = torch.stack(rewards), torch.stack(dones)
    advantages = gae(rewards, values, dones, last_value)
    returns = advantages + values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    logits, v = net(states.flatten(0, 1))
    dist = Categorical(logits=logits)
    logp = dist.log_prob(actions.flatten())
    policy_loss = -(logp * advantages.flatten()).mean()
    value_loss = 0.5 * (v - returns.flatten()).pow(2).mean()
    entropy = dist.entropy().mean()
    loss = policy_loss + VF * value_loss - ENT * entropy
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if update % 10 == 9:
        print(
            update,
            f"policy {policy_loss.item():.3f} value {value_loss.item():.3f} entropy {entropy.item():.3f} score {evaluate(net):.2f}",
        )
