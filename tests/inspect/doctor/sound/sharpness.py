"""SAM: two forwards and two backwards for a step, the first of which only moves the weights uphill."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = base(self.param_groups, **kw)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]))
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old"] = p.data.clone()
                p.add_(p.grad * group["rho"] / (norm + 1e-12))
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data = self.state[p]["old"]
        self.base.step()
        self.zero_grad()


x = torch.randn(600, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4:8].sum(1) > 0).long()
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 3))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(480).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows], label_smoothing=0.1)
        loss.backward()
        optimizer.first_step()
        F.cross_entropy(model(x[rows]), y[rows], label_smoothing=0.1).backward()
        optimizer.second_step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x[480:]).argmax(1) == y[480:]).float().mean().item())
