"""A Wasserstein GAN with a gradient penalty on points of a ring: several critic steps for one of the generator."""

import torch
import torch.nn as nn
from torch import autograd

torch.manual_seed(19)
LAMBDA, CRITIC_ITERS, BATCH, Z = 10.0, 3, 64, 6


def real_batch():
    angle = torch.randint(0, 8, (BATCH,)) * (3.14159 / 4)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.03 * torch.randn(BATCH, 2)


generator = nn.Sequential(nn.Linear(Z, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
critic = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))


def gradient_penalty(real, fake):
    alpha = torch.rand(BATCH, 1)
    between = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(between)
    gradients = autograd.grad(scores, between, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


for it in range(16):
    for _ in range(CRITIC_ITERS):
        real, noise = real_batch(), torch.randn(BATCH, Z)
        fake = generator(noise).detach()
        loss_c = critic(fake).mean() - critic(real).mean() + gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    fake = generator(torch.randn(BATCH, Z))
    loss_g = -critic(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 5 == 4:
        print(it, loss_c.item(), loss_g.item())
