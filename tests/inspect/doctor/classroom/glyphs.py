"""Strokes by a convolutional VAE in a class Trainer: a beta that rises, binary cross entropy, samples of the prior."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


def strokes(n):
    """16 x 16 pictures of one horizontal, vertical or diagonal line, soft at its edges."""
    kind = torch.randint(3, (n,))
    at = 3 + 9 * torch.rand(n, 1, 1)
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    lines = torch.stack([(y - at).abs(), (x - at).abs(), (x + y - 2 * at).abs() / 1.4])
    far = lines[kind, torch.arange(n)]
    return torch.sigmoid(3 * (1.5 - far)).unsqueeze(1), kind


class ConvVAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()
        )
        self.to_mean = nn.Linear(32 * 16, latent)
        self.to_logvar = nn.Linear(32 * 16, latent)
        self.from_latent = nn.Linear(latent, 32 * 16)
        self.decoder = nn.Sequential(
            nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.to_mean(h), self.to_logvar(h)

    def decode(self, z):
        return self.decoder(self.from_latent(z).view(-1, 32, 4, 4))

    def forward(self, x):
        mean, logvar = self.encode(x)
        std = torch.exp(0.5 * logvar)
        z = mean + std * torch.randn_like(std)
        return self.decode(z), mean, logvar


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=2e-3, warm=30):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.warm, self.step_count = warm, 0
        self.history = {"train": [], "val": []}

    def loss(self, x, beta):
        logits, mean, logvar = self.model(x)
        recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
        kl = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp()) / x.size(0)
        return recon + beta * kl, recon, kl

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, _ in self.train_loader:
            beta = min(1.0, (self.step_count + 1) / self.warm)
            loss, recon, kl = self.loss(x, beta)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step_count += 1
            total += loss.item()
        self.history["train"].append(total / len(self.train_loader))

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = 0.0
        for x, _ in self.val_loader:
            total += self.loss(x, 1.0)[0].item()
        self.history["val"].append(total / len(self.val_loader))

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch()
            self.validate()
            print(f"[{epoch}] train {self.history['train'][-1]:.2f} val {self.history['val'][-1]:.2f}")


def probe(model, x, y, x_val, y_val):
    """How well a linear map tells the kinds from the means."""
    model.eval()
    with torch.no_grad():
        z, z_val = model.encode(x)[0], model.encode(x_val)[0]
    head = nn.Linear(z.size(1), 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.3, momentum=0.9)
    for _ in range(40):
        rows = torch.randint(len(z), (64,))
        optimizer.zero_grad()
        F.cross_entropy(head(z[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        return (head(z_val).argmax(1) == y_val).float().mean().item()


torch.manual_seed(61)
pictures, kinds = strokes(600)
train_set, val_set = random_split(TensorDataset(pictures, kinds), [500, 100])
vae = ConvVAE()
trainer = Trainer(vae, DataLoader(train_set, batch_size=25, shuffle=True), DataLoader(val_set, batch_size=50))
trainer.fit(3)
x_train, y_train = pictures[train_set.indices], kinds[train_set.indices]
x_val, y_val = pictures[val_set.indices], kinds[val_set.indices]
print("probe", probe(vae, x_train, y_train, x_val, y_val))
with torch.no_grad():
    print("sample", torch.sigmoid(vae.decode(torch.randn(4, 8))).mean().item())
