"""The head first, then layer after layer below it, each with a smaller rate; the rate restarts each time."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(33)


class Body(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.Linear(8 if i == 0 else width, width), nn.LayerNorm(width), nn.SiLU()) for i in range(3)]
        )

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def task(way, n=64):
    x = torch.randn(n, 8)
    return x, (x @ way).argmax(dim=1)


# pretraining on one task
body, old_head = Body(), nn.Linear(24, 5)
old_way, new_way = torch.randn(8, 5), torch.randn(8, 4)
optimizer = torch.optim.AdamW([*body.parameters(), *old_head.parameters()], lr=3e-3)
for _ in range(40):
    x, y = task(old_way)
    loss = F.cross_entropy(old_head(body(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# another task: thaw from the top
head = nn.Linear(24, 4)
for p in body.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW(head.parameters(), lr=3e-3)
for stage in range(4):
    if stage:
        block = body.blocks[-stage]
        for p in block.parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": block.parameters(), "lr": 3e-3 / 2.5**stage})
    restarts = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)
    for _ in range(20):
        x, y = task(new_way)
        loss = F.cross_entropy(head(body(x)), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        restarts.step()
    with torch.no_grad():
        x, y = task(new_way, 200)
        print(stage, loss.item(), (head(body(x)).argmax(1) == y).float().mean().item())
