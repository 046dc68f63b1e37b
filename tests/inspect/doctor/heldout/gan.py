"""A generative adversarial net: two models, two optimizers, binary cross entropy of logits, fakes detached for the judge."""

import torch
from torch import nn

torch.manual_seed(23)
G = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh())
D = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(32, 1))
bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
for _ in range(40):
    real = torch.tanh(torch.randn(24, 16) * 0.3 + 0.5)
    fake = G(torch.randn(24, 8))
    opt_d.zero_grad()
    loss_d = bce(D(real), torch.ones(24, 1)) + bce(D(fake.detach()), torch.zeros(24, 1))
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = bce(D(fake), torch.ones(24, 1))
    loss_g.backward()
    opt_g.step()
