"""SimCLR: two noisy views, NT-Xent over 2N rows."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32))
projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16))
params = list(encoder.parameters()) + list(projector.parameters())
opt = torch.optim.AdamW(params, lr=1e-3)
base = torch.randn(256, 16)


def nt_xent(z, tau=0.5):
    z = F.normalize(z, dim=1)
    sim = z @ z.t() / tau
    n = z.size(0)
    sim = sim.masked_fill(torch.eye(n, dtype=torch.bool), -1e9)
    target = (torch.arange(n) + n // 2) % n
    return F.cross_entropy(sim, target)


for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        x = base[idx]
        a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
        z = projector(encoder(torch.cat([a, b])))
        loss = nt_xent(z)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
