"""Two views without negatives, Barlow's loss over the batch, and then a linear probe on the features that came of it."""

import torch
from torch import nn


def off_diagonal(m):
    n = m.shape[0]
    return m.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class BarlowTwins(nn.Module):
    def __init__(self, n_in=20, width=48, out=24, lambd=0.01):
        super().__init__()
        self.lambd = lambd
        self.backbone = nn.Sequential(nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.projector = nn.Sequential(nn.Linear(width, out), nn.BatchNorm1d(out), nn.ReLU(), nn.Linear(out, out, bias=False))
        self.bn = nn.BatchNorm1d(out, affine=False)

    def forward(self, y1, y2):
        z1 = self.projector(self.backbone(y1))
        z2 = self.projector(self.backbone(y2))
        c = self.bn(z1).T @ self.bn(z2) / len(y1)
        on_diag = (torch.diagonal(c) - 1).pow(2).sum()
        off_diag = off_diagonal(c).pow(2).sum()
        return on_diag + self.lambd * off_diag


def make(n, centers):
    y = torch.randint(0, len(centers), (n,))
    return centers[y] + 0.5 * torch.randn(n, centers.shape[1]), y


def view(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)


torch.manual_seed(2)
centers = 1.5 * torch.randn(5, 20)
data, kinds = make(600, centers)
held, held_kinds = make(150, centers)

model = BarlowTwins()
opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
for step in range(11):
    batch = data[torch.randint(0, 600, (100,))]
    loss = model(view(batch), view(batch))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("pretrain", step, loss.item())

model.requires_grad_(False)
model.eval()
probe = nn.Linear(48, 5)
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.2)
for _ in range(20):
    rows = torch.randperm(600)[:200]
    logits = probe(model.backbone(data[rows]))
    loss = nn.functional.cross_entropy(logits, kinds[rows])
    probe_opt.zero_grad()
    loss.backward()
    probe_opt.step()
with torch.no_grad():
    accuracy = (probe(model.backbone(held)).argmax(1) == held_kinds).float().mean()
print(f"probe accuracy {accuracy:.3f}")
