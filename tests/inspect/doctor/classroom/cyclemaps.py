# Two kinds of curves without pairs: saw teeth and sines. Two generators, two critics, cycle and identity losses (after CycleGAN).
import itertools
import random

import torch
import torch.nn as nn

torch.manual_seed(8)
random.seed(8)
T = 32


def sines(n):
    t = torch.linspace(0, 1, T)
    f, p = torch.rand(n, 1) * 2 + 1, torch.rand(n, 1) * 6.28
    return (torch.sin(6.28 * f * t + p) + 0.03 * torch.randn(n, T)).unsqueeze(1)


def saws(n):
    t = torch.linspace(0, 1, T)
    f, p = torch.rand(n, 1) * 2 + 1, torch.rand(n, 1)
    return (2 * ((f * t + p) % 1.0) - 1 + 0.03 * torch.randn(n, T)).unsqueeze(1)


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv1d(c, c, 3, padding=1),
            nn.InstanceNorm1d(c, affine=True),
            nn.ReLU(),
            nn.Conv1d(c, c, 3, padding=1),
            nn.InstanceNorm1d(c, affine=True),
        )

    def forward(self, x):
        return x + self.block(x)


class Generator(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv1d(1, c, 5, padding=2), nn.ReLU())
        self.blocks = nn.ModuleList([ResBlock(c) for _ in range(2)])
        self.leave = nn.Conv1d(c, 1, 5, padding=2)

    def forward(self, x):
        h = self.enter(x)
        for block in self.blocks:
            h = block(h)
        return torch.tanh(self.leave(h)) * 1.2


class Critic(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, c, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv1d(c, 2 * c, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv1d(2 * c, 1, 4, padding=1),
        )

    def forward(self, x):
        return self.net(x)


class Pool:
    """The last generated curves, of which an old one is shown now and then."""

    def __init__(self, size=40):
        self.size, self.items = size, []

    def query(self, curves):
        out = []
        for c in curves:
            c = c.unsqueeze(0)
            if len(self.items) < self.size:
                self.items.append(c)
                out.append(c)
            elif random.random() < 0.5:
                i = random.randrange(self.size)
                out.append(self.items[i].clone())
                self.items[i] = c
            else:
                out.append(c)
        return torch.cat(out)


G_ab, G_ba, D_a, D_b = Generator(), Generator(), Critic(), Critic()
opt_G = torch.optim.Adam(itertools.chain(G_ab.parameters(), G_ba.parameters()), lr=1e-3, betas=(0.5, 0.999))
opt_D = torch.optim.Adam(itertools.chain(D_a.parameters(), D_b.parameters()), lr=1e-3, betas=(0.5, 0.999))
mse, l1 = nn.MSELoss(), nn.L1Loss()
pool_a, pool_b = Pool(), Pool()
data_a, data_b = sines(512), saws(512)
for step in range(60):
    real_a = data_a[torch.randint(0, 512, (16,))]
    real_b = data_b[torch.randint(0, 512, (16,))]

    # generators
    opt_G.zero_grad()
    fake_b, fake_a = G_ab(real_a), G_ba(real_b)
    score_b, score_a = D_b(fake_b), D_a(fake_a)
    loss_gan = mse(score_b, torch.ones_like(score_b)) + mse(score_a, torch.ones_like(score_a))
    loss_cycle = l1(G_ba(fake_b), real_a) + l1(G_ab(fake_a), real_b)
    loss_same = l1(G_ab(real_b), real_b) + l1(G_ba(real_a), real_a)
    loss_G = loss_gan + 10 * loss_cycle + 2 * loss_same
    loss_G.backward()
    opt_G.step()

    # critics
    opt_D.zero_grad()
    loss_D = 0
    for critic, real, fake in ((D_a, real_a, pool_a.query(fake_a.detach())), (D_b, real_b, pool_b.query(fake_b.detach()))):
        good, bad = critic(real), critic(fake)
        loss_D = loss_D + 0.5 * (mse(good, torch.ones_like(good)) + mse(bad, torch.zeros_like(bad)))
    loss_D.backward()
    opt_D.step()
    if step % 10 == 0:
        print(step, loss_G.item(), loss_cycle.item(), loss_D.item())
