"""Two tasks on one trunk, gradients of four parts, bfloat16 where it pays, clipping."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)
ACC = 4


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, 48), nn.GELU())
        self.kind, self.size = nn.Linear(48, 4), nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.size(h).squeeze(-1)


W, v = torch.randn(12, 4), torch.randn(12)


def part():
    x = torch.randn(16, 12)
    return x, (x @ W).argmax(1), torch.tanh(x @ v)


def evaluate(model):
    model.eval()
    with torch.no_grad():
        x, kind, size = part()
        a, b = model(x)
        acc, mae = (a.argmax(1) == kind).float().mean().item(), (b - size).abs().mean().item()
    model.train()
    return acc, mae


model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(40):
    if step % 10 == 0:
        print(step, evaluate(model))
    optimizer.zero_grad()
    for _ in range(ACC):
        x, kind, size = part()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a, b = model(x)
        loss_kind = F.cross_entropy(a.float(), kind)
        loss_size = F.mse_loss(b.float(), size)
        loss = loss_kind + 0.5 * loss_size
        loss = loss / ACC
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
