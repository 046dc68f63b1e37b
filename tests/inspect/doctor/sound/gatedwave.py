"""A WaveNet: what its last layer hands on to the next one is read by nobody."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
Q = 32
t = torch.arange(6000) / 40
wave = torch.sin(t) + 0.4 * torch.sin(2.7 * t)
mu = torch.sign(wave / 1.5) * torch.log1p(255 * (wave / 1.5).abs()) / torch.log(torch.tensor(256.0))
ids = ((mu + 1) / 2 * (Q - 1)).round().long().clamp(0, Q - 1)
train, val = ids[:5000], ids[5000:]


class CausalConv(nn.Conv1d):
    def __init__(self, i, o, k, dilation):
        super().__init__(i, o, k, dilation=dilation)
        self.left = (k - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class Layer(nn.Module):
    def __init__(self, c, d):
        super().__init__()
        self.f, self.g = CausalConv(c, c, 2, d), CausalConv(c, c, 2, d)
        self.res, self.skip = nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)

    def forward(self, x):
        z = torch.tanh(self.f(x)) * torch.sigmoid(self.g(x))
        return x + self.res(z), self.skip(z)


class WaveNet(nn.Module):
    def __init__(self, c=24):
        super().__init__()
        self.inp = nn.Embedding(Q, c)
        self.layers = nn.ModuleList([Layer(c, d) for d in (1, 2, 4, 8)])
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(c, c, 1), nn.ReLU(), nn.Conv1d(c, Q, 1))

    def forward(self, ids):
        x, total = self.inp(ids).transpose(1, 2), 0
        for layer in self.layers:
            x, s = layer(x)
            total = total + s
        return self.out(total)


def get(d, b=8, n=100):
    i = torch.randint(0, len(d) - n - 1, (b,))
    return torch.stack([d[k : k + n] for k in i]), torch.stack([d[k + 1 : k + n + 1] for k in i])


net = WaveNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(1, 101):
    x, y = get(train)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        net.eval()
        with torch.no_grad():
            x, y = get(val, 16)
            print(step, loss.item(), F.cross_entropy(net(x), y).item())
        net.train()
seq = val[:40][None]
with torch.no_grad():
    for _ in range(20):
        p = F.softmax(net(seq[:, -40:])[:, :, -1], dim=1)
        seq = torch.cat([seq, torch.multinomial(p, 1)], dim=1)
print(seq[0, -20:].tolist())
