"""Two views without negatives: the other side is detached on purpose, a predictor on one side, cosine loss, EMA of nothing."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
base = torch.randn(6, 16)
kind = torch.randint(6, (500,))
data = base[kind] + 0.4 * torch.randn(500, 16)


def view(x):
    return x + 0.3 * torch.randn_like(x) * (torch.rand_like(x) < 0.7)


encoder = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.BatchNorm1d(32))
predictor = nn.Sequential(nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 32))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9, weight_decay=1e-4)


def similar(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


for epoch in range(6):
    encoder.train(), predictor.train()
    for rows in torch.randperm(400).split(50):
        z1, z2 = encoder(view(data[rows])), encoder(view(data[rows]))
        loss = 0.5 * similar(predictor(z1), z2) + 0.5 * similar(predictor(z2), z1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    encoder.eval()
    with torch.no_grad():
        known, asked = F.normalize(encoder(data[:400]), dim=1), F.normalize(encoder(data[400:]), dim=1)
        right = (kind[:400][(asked @ known.T).argmax(1)] == kind[400:]).float().mean()
    print(epoch, loss.item(), right.item())
