# A learned simulator of a swinging weight on a spring. (from a notebook, cells are marked)
# %%
import math

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
rs = np.random.RandomState(0)

# %% data: position (2) and velocity (2), one push (1)
DT, HORIZON = 0.1, 5


def simulate(n_runs, length):
    s = rs.uniform(-1, 1, size=(n_runs, 4))
    states, pushes = [s], []
    for _ in range(length):
        a = rs.uniform(-1, 1, size=(n_runs, 1))
        acc = -2.0 * s[:, :2] - 0.3 * s[:, 2:] + np.concatenate([a, np.sin(3 * s[:, :1])], 1)
        v = s[:, 2:] + DT * acc
        s = np.concatenate([s[:, :2] + DT * v, v], 1)
        states.append(s)
        pushes.append(a)
    return np.stack(states, 1).astype("float32"), np.stack(pushes, 1).astype("float32")


train_s, train_a = simulate(80, 30)
test_s, test_a = simulate(20, 30)
mu, sd = train_s.mean((0, 1)), train_s.std((0, 1))
train_s, test_s = (train_s - mu) / sd, (test_s - mu) / sd
delta_sd = torch.tensor((train_s[:, 1:] - train_s[:, :-1]).std((0, 1)))


# %% model
class Dynamics(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(5, hidden), nn.Tanh(), nn.Dropout(0.02), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 4)
        )

    def forward(self, s, a):
        return s + delta_sd * self.net(torch.cat([s, a], dim=-1))


net = Dynamics()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-6)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=300)


# %% training on short rollouts
def get_batch(s, a, size=64):
    run = rs.randint(0, len(s), size)
    t = rs.randint(0, a.shape[1] - HORIZON, size)
    first = torch.tensor(s[run, t])
    acts = torch.tensor(np.stack([a[r, i : i + HORIZON] for r, i in zip(run, t)]))
    goal = torch.tensor(np.stack([s[r, i + 1 : i + 1 + HORIZON] for r, i in zip(run, t)]))
    return first, acts, goal


def roll(first, acts):
    s, out = first, []
    for i in range(acts.shape[1]):
        s = net(s, acts[:, i])
        out.append(s)
    return torch.stack(out, dim=1)


curve = []
for it in range(300):
    first, acts, goal = get_batch(train_s, train_a)
    pred = roll(first, acts)
    err = (pred - goal) ** 2
    loss = err.mean()
    opt.zero_grad()
    loss.backward()
    grad_norm = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    sched.step()
    curve.append(loss.item())
    if it % 15 == 14:
        net.eval()
        with torch.no_grad():
            f, u, g = get_batch(test_s, test_a, 128)
            test_mse = ((roll(f, u) - g) ** 2).mean().item()
        net.train()
        print(f"{it:4d} train {np.mean(curve[-15:]):.5f} test {test_mse:.5f} |g| {grad_norm:.3f}")

# %% how far does it go?
net.eval()
with torch.no_grad():
    long = roll(torch.tensor(test_s[:, 0]), torch.tensor(test_a))
    drift = (long - torch.tensor(test_s[:, 1:])).pow(2).mean(dim=(0, 2)).sqrt()
print("drift after 1, 10, 30:", [round(drift[i].item(), 3) for i in (0, 9, 29)], math.isfinite(drift[-1].item()))
