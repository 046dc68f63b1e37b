"""Anomalies by an autoencoder: it learns normal rows alone, a threshold by their errors, strange rows by theirs."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(56)
mix = torch.randn(4, 20)
normal = torch.randn(900, 4) @ mix + 0.1 * torch.randn(900, 20)
strange = torch.randn(100, 20) * 2
mean, std = normal[:700].mean(0), normal[:700].std(0)
normal, strange = (normal - mean) / std, (strange - mean) / std
train_loader = DataLoader(TensorDataset(normal[:700]), batch_size=50, shuffle=True)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20))

    def forward(self, x):
        return self.decoder(self.encoder(x))


model, criterion = AutoEncoder(), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for (x,) in train_loader:
        output = model(x)
        loss = criterion(output, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        fine = (model(normal[700:]) - normal[700:]).pow(2).mean(1)
        odd = (model(strange) - strange).pow(2).mean(1)
    print(epoch, loss.item(), (odd > fine.quantile(0.95)).float().mean().item())
