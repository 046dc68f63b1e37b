"""Deep clustering: an autoencoder first."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(19)
true = torch.randint(3, (900,))
points = 2.5 * torch.randn(3, 8)[true] + torch.randn(900, 8)
points = (points - points.mean(0)) / points.std(0)
encoder, decoder = (
    nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)),
    nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 8)),
)
both = [*encoder.parameters(), *decoder.parameters()]
opt = torch.optim.Adam(both, lr=5e-3)
for _ in range(3):
    for rows in torch.randperm(900).split(60):
        loss = F.mse_loss(decoder(encoder(points[rows])), points[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    codes = encoder(points)
    centres = codes[torch.randperm(900)[:3]].clone()
    for _ in range(20):  # k-means
        nearest = torch.cdist(codes, centres).argmin(dim=1)
        centres = torch.stack([codes[nearest == k].mean(dim=0) if (nearest == k).any() else centres[k] for k in range(3)])
centres = nn.Parameter(centres)
opt = torch.optim.SGD([*encoder.parameters(), centres], lr=0.1, momentum=0.9)


def soft(codes):
    q = 1 / (1 + torch.cdist(codes, centres).pow(2))
    return q / q.sum(dim=1, keepdim=True)


for epoch in range(4):
    with torch.no_grad():
        q = soft(encoder(points))
        p = q.pow(2) / q.sum(dim=0)
        p = p / p.sum(dim=1, keepdim=True)
    for rows in torch.randperm(900).split(90):
        loss = F.kl_div(soft(encoder(points[rows])).log(), p[rows], reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
    found = q.argmax(dim=1)
    purity = sum((true[found == k].bincount(minlength=3).max() if (found == k).any() else 0) for k in range(3)) / 900
    print(epoch, loss.item(), float(purity))
