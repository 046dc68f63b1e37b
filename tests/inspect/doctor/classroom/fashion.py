"""A conditional GAN of small patterns in two classes: labels as embeddings, two optimizers, smoothed ones."""

import torch
from torch import nn

torch.manual_seed(111)
KINDS, NOISE, SIDE = 4, 16, 8


def patterns(n):
    kind = torch.randint(KINDS, (n,))
    phase, y, x = torch.rand(n, 1, 1) * 6.28, *torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    waves = torch.stack([torch.sin(x + phase), torch.sin(y + phase), torch.sin(x + y + phase), torch.sin(x - y + phase)])
    return waves[kind, torch.arange(n)] + 0.05 * torch.randn(n, 8, 8), kind


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(KINDS, 8)
        self.net = nn.Sequential(
            nn.Linear(NOISE + 8, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, SIDE * SIDE)
        )

    def forward(self, z, kind):
        return self.net(torch.cat([z, self.label(kind)], dim=1)).view(-1, SIDE, SIDE)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(KINDS, 8)
        self.net = nn.Sequential(nn.Linear(SIDE * SIDE + 8, 64), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(64, 1))

    def forward(self, x, kind):
        return self.net(torch.cat([x.flatten(1), self.label(kind)], dim=1)).squeeze(1)


pictures, kinds = patterns(640)
G, D = Generator(), Discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(8, NOISE), torch.arange(8) % KINDS
for epoch in range(2):
    order = torch.randperm(len(pictures))
    for i in range(0, len(order), 32):
        rows = order[i : i + 32]
        real, kind = pictures[rows], kinds[rows]
        z = torch.randn(len(rows), NOISE)
        fake = G(z, kind)
        d_loss = bce(D(real, kind), torch.full((len(rows),), 0.9)) + bce(D(fake.detach(), kind), torch.zeros(len(rows)))
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = bce(D(fake, kind), torch.ones(len(rows)))
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    with torch.no_grad():
        G.eval()
        shown = G(*fixed)
        G.train()
    print(epoch, d_loss.item(), g_loss.item(), shown.std().item())
