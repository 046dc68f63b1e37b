"""Which of four coupons for which customer: logged choices, an inverse-propensity objective, and a value model beside it."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

np.random.seed(5)
torch.manual_seed(5)
N_ARMS, DIM = 4, 6
TRUE = torch.randn(DIM, N_ARMS) * 0.9


def reward_prob(x):
    return torch.sigmoid(x @ TRUE - 0.3)


def logging_policy(x):
    """What the shop did so far: mostly by the first number of the customer."""
    base = torch.stack([x[:, 0], -x[:, 0], 0.5 * x[:, 1], torch.zeros(len(x))], dim=1)
    return 0.7 * F.softmax(base, dim=1) + 0.3 / N_ARMS


def collect(n):
    x = torch.randn(n, DIM)
    probs = logging_policy(x)
    a = torch.multinomial(probs, 1).squeeze(1)
    r = torch.bernoulli(reward_prob(x).gather(1, a[:, None]).squeeze(1))
    return {"x": x, "a": a, "r": r, "p": probs.gather(1, a[:, None]).squeeze(1)}


class Policy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.l1, self.l2 = nn.Linear(DIM, hidden), nn.Linear(hidden, N_ARMS)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))


class Value(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM + N_ARMS, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x, a):
        return self.net(torch.cat([x, F.one_hot(a, N_ARMS).float()], dim=1)).squeeze(1)

    def all_arms(self, x):
        return torch.stack([self(x, torch.full((len(x),), k)) for k in range(N_ARMS)], dim=1)


logs, held = collect(2000), collect(500)
policy, value = Policy(), Value()
policy_opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
value_opt = torch.optim.Adam(value.parameters(), lr=5e-3)
ENTROPY = 0.01


def off_policy_value(batch):
    """Self-normalised inverse propensity score."""
    with torch.no_grad():
        pi = F.softmax(policy(batch["x"]), dim=1).gather(1, batch["a"][:, None]).squeeze(1)
        w = pi / batch["p"]
        return ((w * batch["r"]).sum() / w.sum()).item()


for epoch in range(6):
    perm = torch.randperm(2000)
    for chunk in perm.split(100):
        batch = {k: v[chunk] for k, v in logs.items()}

        guess = value(batch["x"], batch["a"])
        value_loss = F.binary_cross_entropy_with_logits(guess, batch["r"])
        value_opt.zero_grad()
        value_loss.backward()
        value_opt.step()

        logits = policy(batch["x"])
        log_pi = F.log_softmax(logits, dim=1)
        chosen = log_pi.gather(1, batch["a"][:, None]).squeeze(1)
        with torch.no_grad():
            q = torch.sigmoid(value.all_arms(batch["x"]))
            q_taken = q.gather(1, batch["a"][:, None]).squeeze(1)
        weight = (chosen.exp() / batch["p"]).clamp(max=10)
        direct = (log_pi.exp() * q).sum(dim=1)
        doubly = direct + weight * (batch["r"] - q_taken)
        entropy = -(log_pi.exp() * log_pi).sum(dim=1).mean()
        policy_loss = -doubly.mean() - ENTROPY * entropy
        policy_opt.zero_grad()
        policy_loss.backward()
        policy_opt.step()
    with torch.no_grad():
        fresh = torch.randn(1000, DIM)
        truth = (F.softmax(policy(fresh), dim=1) * reward_prob(fresh)).sum(1).mean().item()
    print(epoch, round(off_policy_value(held), 4), round(truth, 4))
