"""Diffusion of points in the plane: the noise is predicted, the moving average of the weights draws."""

import torch
import torch.nn as nn

torch.manual_seed(41)
T = 50
betas = torch.linspace(1e-4, 0.05, T)
alphas_bar = torch.cumprod(1 - betas, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


def moons(n):
    a = torch.rand(n) * 3.14
    s = torch.randint(0, 2, (n,)).float()
    return torch.stack([a.cos() + s - 0.5, a.sin() * (1 - 2 * s) + 0.25], 1) + 0.05 * torch.randn(n, 2)


model = Denoiser()
average = {k: v.clone() for k, v in model.state_dict().items()}
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(60):
    x0 = moons(64)
    t = torch.randint(0, T, (64,))
    noise = torch.randn_like(x0)
    ab = alphas_bar[t].unsqueeze(1)
    xt = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
    loss = (model(xt, t) - noise).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            average[k].mul_(0.98).add_(v, alpha=0.02)
print(loss.item())
sampler = Denoiser()
sampler.load_state_dict(average)
with torch.no_grad():
    x = torch.randn(8, 2)
    for i in reversed(range(T)):
        e = sampler(x, torch.full((8,), i))
        x = (x - betas[i] / (1 - alphas_bar[i]).sqrt() * e) / (1 - betas[i]).sqrt()
        x = x + betas[i].sqrt() * torch.randn_like(x) if i else x
