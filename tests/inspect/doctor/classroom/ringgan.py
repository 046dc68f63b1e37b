"""Rings and bars on small pictures: a conditional GAN with hinge losses, spectral norms and labels by embeddings."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
SIDE, LATENT, KINDS = 12, 16, 3


def pictures(n):
    kind = torch.randint(KINDS, (n,))
    ys, xs = torch.meshgrid(torch.arange(SIDE).float(), torch.arange(SIDE).float(), indexing="ij")
    centre = 4.5 + 2 * torch.rand(n, 2, 1, 1)
    far = ((ys - centre[:, 0]) ** 2 + (xs - centre[:, 1]) ** 2).sqrt()
    ring = (far - 3).abs() < 0.8
    bar, beam = (ys - centre[:, 0]).abs() < 1.2, (xs - centre[:, 1]).abs() < 1.2
    drawn = torch.where(
        kind[:, None, None] == 0, ring, torch.where(kind[:, None, None] == 1, bar.expand_as(ring), beam.expand_as(ring))
    )
    return (2.0 * drawn.float() - 1.0 + 0.1 * torch.randn(n, SIDE, SIDE)).clamp(-1, 1).unsqueeze(1), kind


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(KINDS, LATENT)
        self.start = nn.Linear(2 * LATENT, 32 * 9)
        self.body = nn.Sequential(
            nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 16, 4, 2, 1),
            nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, z, kind):
        h = self.start(torch.cat([z, self.label(kind)], dim=1))
        return self.body(h.view(-1, 32, 3, 3))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 16, 4, 2, 1)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(16, 32, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(),
        )  # fmt: skip
        self.out = spectral_norm(nn.Linear(32 * 9, 1))
        self.label = nn.Embedding(KINDS, 32 * 9)

    def forward(self, x, kind):
        h = self.body(x)
        return self.out(h).squeeze(1) + (h * self.label(kind)).mean(dim=1)


def generator_loss(fake_score):
    return -fake_score.mean()


def critic_loss(real_score, fake_score):
    return F.relu(1.0 - real_score).mean() + F.relu(1.0 + fake_score).mean()


x, kind = pictures(960)
loader = DataLoader(TensorDataset(x, kind), batch_size=32, shuffle=True, drop_last=True)
G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=4e-4, betas=(0.5, 0.999))
fixed = torch.randn(9, LATENT), torch.arange(9) % KINDS

for epoch in range(2):
    for real, label in loader:
        z = torch.randn(len(real), LATENT)
        fake = G(z, label)
        loss_d = critic_loss(D(real, label), D(fake.detach(), label))
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        wanted = torch.randint(KINDS, (len(real),))
        loss_g = generator_loss(D(G(torch.randn(len(real), LATENT), wanted), wanted))
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
    G.eval()
    with torch.no_grad():
        shown = G(*fixed)
    G.train()
    print(f"epoch {epoch}: critic {loss_d.item():.3f}, generator {loss_g.item():.3f}, mean of pictures {shown.mean().item():.3f}")
