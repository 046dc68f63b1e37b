"""Two tasks that pull against each other: a gradient for each (torch.autograd.grad)."""

import numpy as np
import torch
from torch import nn

np.random.seed(2)
torch.manual_seed(2)
inputs = np.random.uniform(-1, 1, (1000, 6)).astype("float32")
heights = (inputs[:, :1] * 2 + np.sin(3 * inputs[:, 1:2])).astype("float32")
kinds = (inputs[:, 2] * inputs[:, 3] > inputs[:, 4] * 0.5).astype("int64")


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU())
        self.height, self.kind = nn.Linear(48, 1), nn.Linear(48, 2)

    def forward(self, x):
        h = self.body(x)
        return self.height(h), self.kind(h)


net = TwoHeads()
shared = list(net.body.parameters())
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)


def project(g, other):
    dot = sum((a * b).sum() for a, b in zip(g, other))
    if dot >= 0:
        return list(g)
    square = sum((b * b).sum() for b in other)
    return [a - dot / square * b for a, b in zip(g, other)]


for epoch in range(6):
    order = np.random.permutation(800)
    for start in range(0, 800, 50):
        rows = order[start : start + 50]
        x, h, k = torch.tensor(inputs[rows]), torch.tensor(heights[rows]), torch.tensor(kinds[rows])
        out_h, out_k = net(x)
        loss_h, loss_k = nn.functional.mse_loss(out_h, h), nn.functional.cross_entropy(out_k, k)
        grad_h = torch.autograd.grad(loss_h, shared, retain_graph=True)
        grad_k = torch.autograd.grad(loss_k, shared, retain_graph=True)
        optimizer.zero_grad()
        (loss_h + loss_k).backward()
        for p, a, b in zip(shared, project(grad_h, grad_k), project(grad_k, grad_h)):
            p.grad = a + b
        optimizer.step()
    with torch.inference_mode():
        out_h, out_k = net(torch.tensor(inputs[800:]))
        error = (out_h - torch.tensor(heights[800:])).abs().mean()
        right = (out_k.argmax(1) == torch.tensor(kinds[800:])).float().mean()
    print(f"{epoch} height {error:.3f} kind {right:.3f}")
