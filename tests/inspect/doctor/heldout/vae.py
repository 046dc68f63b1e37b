"""A variational autoencoder: reparametrisation, a summed reconstruction, a divergence."""

import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(29)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.mean, self.log_var = nn.Linear(36, 24), nn.Linear(24, 4), nn.Linear(24, 4)
        self.wider, self.outer = nn.Linear(4, 24), nn.Linear(24, 36)

    def encode(self, x):
        h = F.relu(self.inner(x))
        return self.mean(h), self.log_var(h)

    def decode(self, z):
        return torch.sigmoid(self.outer(F.relu(self.wider(z))))

    def forward(self, x):
        mean, log_var = self.encode(x.view(-1, 36))
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
        return self.decode(z), mean, log_var


def loss_function(rebuilt, x, mean, log_var):
    bce = F.binary_cross_entropy(rebuilt, x.view(-1, 36), reduction="sum")
    return bce - 0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3)
for step in range(40):
    data = (torch.rand(20, 1, 6, 6) < torch.linspace(0.1, 0.9, 6)).float()
    optimizer.zero_grad()
    rebuilt, mean, log_var = model(data)
    loss = loss_function(rebuilt, data, mean, log_var)
    loss.backward()
    optimizer.step()
    if step % 10 == 6:
        model.eval()
        with torch.no_grad():
            rebuilt, mean, log_var = model(data)
            print(loss_function(rebuilt, data, mean, log_var).item() / len(data))
        model.train()
