"""SimCLR on drawn galaxies: two views of each picture, NT-Xent, LARS-like warmup, then a linear probe on the frozen encoder."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(8)


def galaxies(n, size=24):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    kind = torch.randint(0, 3, (n,))
    angle = 2 * math.pi * torch.rand(n, 1, 1)
    u, v = xx * angle.cos() + yy * angle.sin(), yy * angle.cos() - xx * angle.sin()
    r, phi = (u**2 + v**2).sqrt(), torch.atan2(v, u)
    spiral = torch.exp(-2 * r) * (1 + torch.cos(2 * phi - 6 * r))
    ellipse = torch.exp(-3 * (u**2 + 5 * v**2))
    ring = torch.exp(-40 * (r - 0.6) ** 2) + torch.exp(-20 * r**2)
    image = torch.stack([spiral, ellipse, ring], 1)[torch.arange(n), kind]
    return image.unsqueeze(1) + 0.05 * torch.randn(n, 1, size, size), kind


class TwoViews(Dataset):
    def __init__(self, images):
        self.images = images

    def view(self, x):
        if torch.rand(1) < 0.5:
            x = x.flip(-1)
        x = torch.rot90(x, int(torch.randint(4, (1,))), dims=(-2, -1))
        top, left = torch.randint(0, 5, (2,)).tolist()
        x = x[:, top : top + 20, left : left + 20]
        return x * (0.8 + 0.4 * torch.rand(1)) + 0.05 * torch.randn_like(x)

    def __getitem__(self, i):
        x = self.images[i]
        return self.view(x), self.view(x)

    def __len__(self):
        return len(self.images)


class Encoder(nn.Module):
    def __init__(self, width=16, dim=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(2 * width, dim),
        )

    def forward(self, x):
        return self.net(x)


class SimCLR(nn.Module):
    def __init__(self, dim=32, out=16):
        super().__init__()
        self.encoder = Encoder(dim=dim)
        self.projector = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out))

    def forward(self, x):
        return F.normalize(self.projector(self.encoder(x)), dim=-1)


def nt_xent(z1, z2, tau=0.2):
    n = z1.size(0)
    z = torch.cat([z1, z2])
    sim = z @ z.t() / tau
    sim.fill_diagonal_(float("-inf"))
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, labels)


images, kinds = galaxies(700)
images = (images - images[:600].mean()) / images[:600].std()
train_x, train_y, test_x, test_y = images[:600], kinds[:600], images[600:], kinds[600:]
loader = DataLoader(TwoViews(train_x), batch_size=50, shuffle=True, drop_last=True)
model = SimCLR()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=10)
for epoch in range(4):
    model.train()
    losses = []
    for v1, v2 in loader:
        loss = nt_xent(model(v1), model(v2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {sum(losses) / len(losses):.3f}")

encoder = model.encoder.eval().requires_grad_(False)
probe = nn.Linear(32, 3)
probe_optimizer = torch.optim.Adam(probe.parameters(), lr=1e-2)
with torch.no_grad():
    train_h, test_h = encoder(train_x[:, :, 2:22, 2:22]), encoder(test_x[:, :, 2:22, 2:22])
for _ in range(150):
    batch = torch.randint(0, len(train_h), (64,))
    probe_loss = F.cross_entropy(probe(train_h[batch]), train_y[batch])
    probe_optimizer.zero_grad()
    probe_loss.backward()
    probe_optimizer.step()
with torch.no_grad():
    accuracy = (probe(test_h).argmax(dim=1) == test_y).float().mean()
print(f"probe loss {probe_loss.item():.3f}, test accuracy {accuracy.item():.3f}")
