"""Constants of a damped spring from one recording: Euler's steps are differentiated, every step sees the whole recording."""

import torch

torch.manual_seed(6)
DT, N = 0.05, 80


class Spring(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_k = torch.nn.Parameter(torch.tensor(0.0))
        self.log_c = torch.nn.Parameter(torch.tensor(-2.0))
        self.start = torch.nn.Parameter(torch.tensor([0.8, 0.0]))

    def forward(self):
        x, v = self.start
        path = []
        for _ in range(N):
            path.append(x)
            v = v + DT * (-self.log_k.exp() * x - self.log_c.exp() * v)
            x = x + DT * v
        return torch.stack(path)


with torch.no_grad():
    truth = Spring()
    truth.log_k.fill_(1.2)
    truth.log_c.fill_(-0.7)
    truth.start.copy_(torch.tensor([1.0, 0.3]))
    recording = truth() + 0.02 * torch.randn(N)

spring = Spring()
optimizer = torch.optim.Adam(spring.parameters(), lr=0.03)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=150)
for step in range(150):
    loss = (spring() - recording).pow(2).mean() + 1e-4 * spring.log_c.pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 50 == 49:
        print(step, loss.item(), spring.log_k.item(), spring.log_c.item())
