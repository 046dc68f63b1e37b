"""Lower precision with a scaler, gradients of two batches added up, an average of the weights."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
w = torch.randn(20, 4)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 4)
        )

    def forward(self, x):
        return self.net(x)


model = MLP()
ema = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu")
accumulation_steps = 2

for step in range(60):
    x = torch.randn(32, 20)
    y = (x @ w).argmax(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), y) / accumulation_steps
    scaler.scale(loss).backward()
    if (step + 1) % accumulation_steps == 0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        with torch.no_grad():
            for a, b in zip(ema.parameters(), model.parameters()):
                a.mul_(0.9).add_(b, alpha=0.1)
    if step % 20 == 19:
        with torch.no_grad():
            x = torch.randn(256, 20)
            print(step, loss.item() * accumulation_steps, (ema(x).argmax(1) == (x @ w).argmax(1)).float().mean().item())
