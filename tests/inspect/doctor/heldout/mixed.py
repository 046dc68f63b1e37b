"""Mixed precision with a GradScaler, and gradients accumulated over four parts."""

import torch
from torch import nn

torch.manual_seed(53)
PARTS = 4
model = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 9))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(30):
    optimizer.zero_grad()
    for _ in range(PARTS):
        y = torch.randint(0, 9, (16,))
        x = torch.randn(16, 24) + nn.functional.one_hot(y, 24) * 2.0
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
            loss = loss_fn(logits, y) / PARTS
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 10 == 8:
        model.eval()
        with torch.no_grad():
            print(loss_fn(model(x), y).item())
        model.train()
