"""Policy gradient: an agent walks along a line, REINFORCE with a baseline, one episode for each step."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(47)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.action = nn.Linear(3, 24), nn.Dropout(0.1), nn.Linear(24, 3)

    def forward(self, x):
        return F.softmax(self.action(F.relu(self.drop(self.first(x)))), dim=1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(30):
    place, logs, rewards = torch.randn(1), [], []
    for t in range(12):
        state = torch.cat([place, place.abs(), torch.tensor([t / 12])]).unsqueeze(0)
        choice = Categorical(policy(state))
        action = choice.sample()
        logs.append(choice.log_prob(action))
        place = place + (action.float() - 1) * 0.3
        rewards.append(-place.abs().item())
    total, returns = 0.0, []
    for r in reversed(rewards):
        total = r + 0.95 * total
        returns.insert(0, total)
    gain = torch.tensor(returns)
    gain = (gain - gain.mean()) / (gain.std() + 1e-6)
    optimizer.zero_grad()
    loss = torch.cat([-log * g for log, g in zip(logs, gain)]).sum()
    loss.backward()
    optimizer.step()
