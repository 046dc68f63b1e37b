# %% [markdown]
# Predator and prey: the right-hand side of an ODE is a network, solved by Runge-Kutta; trajectories are what is compared.
# %%
import torch
from torch import nn

torch.manual_seed(44)
torch.set_default_dtype(torch.float32)


def true_field(x):
    prey, hunter = x[..., 0], x[..., 1]
    return torch.stack([1.1 * prey - 0.4 * prey * hunter, 0.1 * prey * hunter - 0.4 * hunter], dim=-1)


def rk4(field, x, dt):
    k1 = field(x)
    k2 = field(x + dt / 2 * k1)
    k3 = field(x + dt / 2 * k2)
    k4 = field(x + dt * k3)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(field, x0, times):
    xs = [x0]
    for t0, t1 in zip(times[:-1], times[1:]):
        xs.append(rk4(field, xs[-1], t1 - t0))
    return torch.stack(xs, dim=1)


# %%
times = torch.linspace(0, 2, 21)
with torch.no_grad():
    starts = torch.rand(260, 2) * torch.tensor([8.0, 3.0]) + torch.tensor([2.0, 1.0])
    paths = solve(true_field, starts, times)
mean, std = paths[:200].mean(dim=(0, 1)), paths[:200].std(dim=(0, 1))
paths = (paths - mean) / std
paths = paths + 0.01 * torch.randn_like(paths)
train_paths, test_paths = paths[:200], paths[200:]


# %%
class Field(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
        nn.init.normal_(self.net[-1].weight, std=0.1)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        return self.net(x)


field = Field()
opt = torch.optim.Adam(field.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=120)


# %%
def get_batch(n=24, window=8):
    rows = torch.randint(len(train_paths), (n,))
    start = torch.randint(0, len(times) - window, (n,))
    seg = torch.stack([train_paths[r, s : s + window] for r, s in zip(rows, start)])
    return seg[:, 0], seg, times[:window]


curve = []
for it in range(120):
    x0, seg, t = get_batch()
    guess = solve(field, x0, t)
    loss = (guess - seg).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    curve.append(loss.item())
    if it % 20 == 19:
        with torch.no_grad():
            whole = solve(field, test_paths[:, 0], times)
            err = (whole - test_paths).abs().mean()
        print(it, sum(curve[-20:]) / 20, err.item())
