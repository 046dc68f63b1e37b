"""Proximal policy optimisation on a small corridor: an agent with actor and critic, advantages by GAE, a loss of three terms."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(2)
np.random.seed(2)


@dataclass
class Args:
    num_envs: int = 4
    num_steps: int = 32
    gamma: float = 0.97
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    update_epochs: int = 2
    num_minibatches: int = 4
    learning_rate: float = 3e-3
    num_iterations: int = 5


class Corridor:
    """Walk to a goal of a random side; the observation says where one stands and where the goal is."""

    def __init__(self, size=6):
        self.size = size
        self.reset()

    def reset(self):
        self.pos = np.random.randint(1, self.size)
        self.goal = np.random.choice([0, self.size])
        self.t = 0
        return self.obs()

    def obs(self):
        return np.array([self.pos / self.size, self.goal / self.size, (self.goal - self.pos) / self.size, self.t / 20])

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action == 1 else -1 if action == 0 else 0), 0, self.size))
        self.t += 1
        reached = self.pos == self.goal
        done = reached or self.t >= 20
        reward = 1.0 if reached else -0.05
        obs = self.reset() if done else self.obs()
        return obs, reward, done


def layer_init(layer, std=2**0.5, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim=4, n_actions=3):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)),
            nn.Tanh(),
            layer_init(nn.Linear(32, 32)),
            nn.Tanh(),
            layer_init(nn.Linear(32, 1), std=1.0),
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)),
            nn.Tanh(),
            layer_init(nn.Linear(32, 32)),
            nn.Tanh(),
            layer_init(nn.Linear(32, n_actions), std=0.01),
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


args = Args()
envs = [Corridor() for _ in range(args.num_envs)]
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

obs = torch.zeros((args.num_steps, args.num_envs, 4))
actions = torch.zeros((args.num_steps, args.num_envs), dtype=torch.long)
logprobs = torch.zeros((args.num_steps, args.num_envs))
rewards = torch.zeros((args.num_steps, args.num_envs))
dones = torch.zeros((args.num_steps, args.num_envs))
values = torch.zeros((args.num_steps, args.num_envs))

next_obs = torch.tensor(np.stack([env.reset() for env in envs]), dtype=torch.float32)
next_done = torch.zeros(args.num_envs)
for iteration in range(1, args.num_iterations + 1):
    frac = 1.0 - (iteration - 1.0) / args.num_iterations
    optimizer.param_groups[0]["lr"] = frac * args.learning_rate
    for step in range(args.num_steps):
        obs[step] = next_obs
        dones[step] = next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        results = [env.step(a) for env, a in zip(envs, action.tolist())]
        next_obs = torch.tensor(np.stack([r[0] for r in results]), dtype=torch.float32)
        rewards[step] = torch.tensor([r[1] for r in results])
        next_done = torch.tensor([float(r[2]) for r in results])

    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(args.num_steps)):
            nextnonterminal = 1.0 - (next_done if t == args.num_steps - 1 else dones[t + 1])
            nextvalues = next_value if t == args.num_steps - 1 else values[t + 1]
            delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
        returns = advantages + values

    b_obs = obs.reshape(-1, 4)
    b_logprobs = logprobs.reshape(-1)
    b_actions = actions.reshape(-1)
    b_advantages = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    b_inds = np.arange(args.num_steps * args.num_envs)
    minibatch_size = len(b_inds) // args.num_minibatches
    for _ in range(args.update_epochs):
        np.random.shuffle(b_inds)
        for start in range(0, len(b_inds), minibatch_size):
            mb_inds = b_inds[start : start + minibatch_size]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions[mb_inds])
            logratio = newlogprob - b_logprobs[mb_inds]
            ratio = logratio.exp()
            mb_advantages = b_advantages[mb_inds]
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss1 = -mb_advantages * ratio
            pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
            entropy_loss = entropy.mean()
            loss = pg_loss - args.ent_coef * entropy_loss + args.vf_coef * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    print(f"iteration {iteration}: mean reward {rewards.mean():.3f}, value loss {v_loss.item():.3f}")
