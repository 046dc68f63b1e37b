import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
EPOCHS, LATENT, BATCH = 6, 8, 64


def digits(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = (torch.rand(10, 14, 14, generator=torch.Generator().manual_seed(0)) > 0.6).float()
    x = proto[torch.randint(0, 10, (n,), generator=g)]
    flips = torch.rand(n, 14, 14, generator=g) < 0.05
    return torch.where(flips, 1 - x, x)


train_loader = DataLoader(TensorDataset(digits(1500, 1)), batch_size=BATCH, shuffle=True)
test_loader = DataLoader(TensorDataset(digits(300, 2)), batch_size=BATCH)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(196, 128)
        self.fc21 = nn.Linear(128, LATENT)
        self.fc22 = nn.Linear(128, LATENT)
        self.fc3 = nn.Linear(LATENT, 128)
        self.fc4 = nn.Linear(128, 196)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 196))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 196), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train(epoch):
    model.train()
    train_loss = 0
    for _batch_idx, (data,) in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print(f"epoch {epoch} train {train_loss / len(train_loader.dataset):.3f}")


def test(epoch):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for (data,) in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
    print(f"test {test_loss / len(test_loader.dataset):.3f}")


for epoch in range(1, EPOCHS + 1):
    train(epoch)
    test(epoch)
with torch.no_grad():
    sample = model.decode(torch.randn(4, LATENT)).view(4, 14, 14)
    print(sample.mean().item())
