"""Representations without labels: an online and a target network, a predictor, cosine loss of two views, then a linear test."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
N, DIM, BATCH, STEPS = 512, 32, 64, 40
prototypes = torch.randn(4, DIM)
labels = torch.randint(0, 4, (N,))
data = prototypes[labels] + 0.6 * torch.randn(N, DIM)
train_data, train_labels, test_data, test_labels = data[:400], labels[:400], data[400:], labels[400:]


def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.3 * torch.randn_like(x)


def mlp(dim, hidden, out):
    return nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))


class BYOL(nn.Module):
    def __init__(self, base_momentum=0.95):
        super().__init__()
        self.online = nn.Sequential(mlp(DIM, 64, 32), mlp(32, 64, 16))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.predictor = mlp(16, 32, 16)
        self.m = base_momentum

    @torch.no_grad()
    def update_target(self, step):
        m = 1 - (1 - self.m) * (math.cos(math.pi * step / STEPS) + 1) / 2
        for po, pt in zip(self.online.parameters(), self.target.parameters()):
            pt.data = pt.data * m + po.data * (1.0 - m)

    def forward(self, a, b):
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        return regression_loss(pa, tb) + regression_loss(pb, ta)


def regression_loss(p, z):
    p, z = F.normalize(p, dim=1), F.normalize(z, dim=1)
    return (2 - 2 * (p * z).sum(dim=1)).mean()


model = BYOL()
optimizer = torch.optim.Adam([*model.online.parameters(), *model.predictor.parameters()], lr=2e-3, weight_decay=1e-5)
losses = []
for step in range(STEPS):
    idx = torch.randint(0, len(train_data), (BATCH,))
    batch = train_data[idx]
    loss = model(augment(batch), augment(batch))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.update_target(step)
    losses.append(loss.item())
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    z_train, z_test = model.online[0](train_data), model.online[0](test_data)
probe = nn.Linear(32, 4)
opt = torch.optim.Adam(probe.parameters(), lr=0.05)
for _ in range(30):
    opt.zero_grad()
    F.cross_entropy(probe(z_train), train_labels).backward()
    opt.step()
print("linear probe", (probe(z_test).argmax(1) == test_labels).float().mean().item())
