"""Pictures by a table of codes: straight-through gradients, commitment, reconstruction."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)


class Quantizer(nn.Module):
    def __init__(self, codes=16, d=8, beta=0.25):
        super().__init__()
        self.table, self.beta = nn.Embedding(codes, d), beta
        nn.init.uniform_(self.table.weight, -1 / codes, 1 / codes)

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.shape[1])
        distance = (flat**2).sum(1, keepdim=True) - 2 * flat @ self.table.weight.t() + (self.table.weight**2).sum(1)
        index = distance.argmin(1)
        q = self.table(index).view(z.shape[0], z.shape[2], z.shape[3], -1).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 8, 3, 1, 1))
        self.quantizer = Quantizer()
        self.decoder = nn.Sequential(nn.Conv2d(8, 16, 3, 1, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))

    def forward(self, x):
        q, loss = self.quantizer(self.encoder(x))
        return self.decoder(q), loss


def stripes(n):
    phase, angle = torch.rand(n, 1, 1) * 6.3, torch.rand(n, 1, 1) * 3.1
    i = torch.arange(12.0)
    return torch.sin(angle.cos() * i[:, None] + angle.sin() * i[None] + phase)[:, None]


model = VQVAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(50):
    x = stripes(32)
    rebuilt, vq_loss = model(x)
    recon = F.mse_loss(rebuilt, x)
    loss = recon + vq_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 24:
        model.eval()
        with torch.no_grad():
            test = stripes(32)
            print(step, f"{recon.item():.3f} {F.mse_loss(model(test)[0], test).item():.3f}")
        model.train()
