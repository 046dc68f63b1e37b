import torch
from torch import nn
from torch.nn import functional as F

SIDE = 16


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.fc2(F.silu(self.fc1(self.norm(x))))


class VAE(nn.Module):
    def __init__(self, latent, hidden=96):
        super().__init__()
        self.fc1 = nn.Linear(SIDE * SIDE, hidden)
        self.body = Residual(hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.back = Residual(hidden)
        self.fc4 = nn.Linear(hidden, SIDE * SIDE)

    def encode(self, x):
        h1 = self.body(F.relu(self.fc1(x)))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = self.back(F.relu(self.fc3(z)))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, SIDE * SIDE))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, SIDE * SIDE), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce, kld
