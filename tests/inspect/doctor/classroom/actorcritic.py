"""An actor and a critic on a walk to the right: returns backwards in time, the advantage without a gradient, an entropy bonus."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(33)
STATES, GAMMA = 9, 0.95


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine, self.action_head, self.value_head = nn.Linear(STATES, 32), nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
running = 0.0
for episode in range(40):
    state, log_probs, values, rewards, entropies = 4, [], [], [], []
    for _ in range(20):
        probs, value = model(F.one_hot(torch.tensor(state), STATES).float())
        m = Categorical(probs)
        action = m.sample()
        log_probs.append(m.log_prob(action))
        values.append(value.squeeze(0))
        entropies.append(m.entropy())
        state = max(0, min(STATES - 1, state + (1 if action.item() == 1 else -1)))
        rewards.append(1.0 if state == STATES - 1 else -0.05)
        if state == STATES - 1:
            break
    returns, R = [], 0.0
    for r in rewards[::-1]:
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    values, log_probs = torch.stack(values), torch.stack(log_probs)
    advantage = returns - values.detach()
    policy_loss = -(log_probs * advantage).sum()
    value_loss = F.smooth_l1_loss(values, returns, reduction="sum")
    loss = policy_loss + value_loss - 0.01 * torch.stack(entropies).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.9 * running + 0.1 * sum(rewards)
    if episode % 10 == 9:
        print(episode, running)
