"""A convolutional variational autoencoder with a warmed-up beta: a loss of two terms, test() each epoch, samples at the end."""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="VAE of blobs")
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--latent", type=int, default=6)
parser.add_argument("--log-interval", type=int, default=8)
args = parser.parse_args()
torch.manual_seed(1)


def blobs(n, seed):
    g = torch.Generator().manual_seed(seed)
    cx, cy = 3 + 10 * torch.rand(2, n, 1, 1, generator=g)
    r = 1.5 + 2 * torch.rand(n, 1, 1, generator=g)
    axis = torch.arange(16.0)
    d = (axis[None, None, :] - cx) ** 2 + (axis[None, :, None] - cy) ** 2
    return torch.exp(-d / (2 * r**2)).unsqueeze(1)


train_loader = DataLoader(TensorDataset(blobs(416, 0)), batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(TensorDataset(blobs(96, 1)), batch_size=args.batch_size)


class VAE(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.fc_mu = nn.Linear(16 * 4 * 4, latent)
        self.fc_logvar = nn.Linear(16 * 4 * 4, latent)
        self.fc_decode = nn.Linear(latent, 16 * 4 * 4)
        self.decoder = nn.Sequential(
            nn.ReLU(),
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.fc_mu(h), self.fc_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return self.decoder(self.fc_decode(z).view(-1, 16, 4, 4))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


model = VAE(args.latent)
optimizer = optim.Adam(model.parameters(), lr=2e-3)


def loss_function(recon_x, x, mu, logvar, beta):
    BCE = F.binary_cross_entropy(recon_x, x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + beta * KLD, BCE, KLD


step = 0


def train(epoch):
    global step
    model.train()
    train_loss = 0
    for batch_idx, (data,) in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        beta = min(1.0, (step + 1) / 10)
        loss, bce, kld = loss_function(recon_batch, data, mu, logvar, beta)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        step += 1
        if batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}] Loss: {loss.item() / len(data):.4f}")
    print(f"====> Epoch: {epoch} Average loss: {train_loss / len(train_loader.dataset):.4f}")


def test(epoch):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for (data,) in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar, 1.0)[0].item()
    test_loss /= len(test_loader.dataset)
    print(f"====> Test set loss: {test_loss:.4f}")


for epoch in range(1, args.epochs + 1):
    train(epoch)
    test(epoch)
    with torch.no_grad():
        sample = torch.randn(4, args.latent)
        sample = model.decode(sample)
