"""Self-training: a few labels first, then the model's own sure answers count as labels, with noise on what it reads."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)
centres = 1.3 * torch.randn(4, 10)
kind = torch.randint(4, (1300,))
data = centres[kind] + torch.randn(1300, 10)
few, many, held = slice(0, 60), slice(60, 1100), slice(1100, 1300)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 4))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(80):
    model.eval()
    rows = torch.randint(many.start, many.stop, (96,))
    with torch.no_grad():
        sure, guess = model(data[rows]).softmax(dim=1).max(dim=1)
    model.train()
    own = torch.randint(few.stop, (32,))
    loss = F.cross_entropy(model(data[own]), kind[own])
    taken = sure > 0.9
    if taken.any():
        noisy = data[rows][taken] + 0.3 * torch.randn(int(taken.sum()), 10)
        loss = loss + min(1.0, step / 40) * F.cross_entropy(model(noisy), guess[taken])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        model.eval()
        with torch.no_grad():
            print(step, loss.item(), (model(data[held]).argmax(1) == kind[held]).float().mean().item())
