"""Numbers are rounded forward and not backward; gates are drawn by gumbel_softmax, whose temperature falls."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)


class Rounded(nn.Module):
    """A layer whose weights and inputs have 16 levels."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in) / n_in**0.5)
        self.bias = nn.Parameter(torch.zeros(n_out))

    @staticmethod
    def levels(x):
        step = x.detach().abs().max() / 7
        return x + (torch.round(x / step) * step - x).detach()

    def forward(self, x):
        return F.linear(self.levels(x), self.levels(self.weight), self.bias)


class Gated(nn.Module):
    def __init__(self, experts=3):
        super().__init__()
        self.gate = Rounded(6, experts)
        self.experts = nn.ModuleList(nn.Sequential(Rounded(6, 24), nn.ReLU(), Rounded(24, 2)) for _ in range(experts))

    def forward(self, x, temperature):
        logits = self.gate(x)
        if self.training:
            chosen = F.gumbel_softmax(logits, tau=temperature, hard=True)
        else:
            chosen = F.one_hot(logits.argmax(dim=-1), logits.size(-1)).float()
        answers = torch.stack([expert(x) for expert in self.experts], dim=1)
        usage = logits.softmax(dim=-1).mean(dim=0)
        return (chosen.unsqueeze(-1) * answers).sum(dim=1), (usage * usage.log()).sum()


model = Gated()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[100, 130], gamma=0.3)
for step in range(150):
    x = torch.randn(64, 6)
    y = torch.where(x[:, :1] > 0, x[:, 1:3], -x[:, 3:5])
    guess, unbalanced = model(x, temperature=max(0.3, 2.0 * 0.98**step))
    loss = (guess - y).pow(2).mean() + 0.05 * unbalanced
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 15 == 14:
        model.eval()
        with torch.no_grad():
            print(step, loss.item(), (model(x, 1.0)[0] - y).pow(2).mean().item())
        model.train()
