"""A convolutional autoencoder takes noise out of pictures; what it has learnt is looked at now and then."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        phase = torch.rand(n, 1, 1, 1, generator=g) * 6
        wave = torch.rand(n, 1, 1, 1, generator=g) * 2 + 0.3
        self.clean = 0.5 + 0.5 * torch.sin(torch.arange(12).view(1, 1, 1, 12) * wave + phase).expand(n, 1, 12, 12)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.clean[i] + 0.2 * torch.randn(1, 12, 12), self.clean[i]


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU())
        self.decoder = nn.Sequential(nn.ConvTranspose2d(12, 8, 2, 2), nn.ReLU(), nn.ConvTranspose2d(8, 1, 2, 2), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


def run(epochs=4):
    torch.manual_seed(0)
    loader = DataLoader(Stripes(160, 1), 16, shuffle=True)
    held = DataLoader(Stripes(40, 2), 40)
    net = AutoEncoder()
    opt = torch.optim.Adam(net.parameters(), 3e-3)
    mse = nn.MSELoss()
    for e in range(epochs):
        for noisy, clean in loader:
            loss = mse(net(noisy), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            print(e, sum(mse(net(a), b).item() for a, b in held))


run()
