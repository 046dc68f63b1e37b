"""A variational autoencoder of small drawn pots: the model and the data in files of their own, a weight that rises."""

import argparse

import torch
from pots import PotDataset
from torch import optim
from torch.utils.data import DataLoader, random_split
from vae import VAE, loss_function

parser = argparse.ArgumentParser(description="VAE of pots")
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--latent", type=int, default=6)
parser.add_argument("--beta", type=float, default=1.0)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(args.seed)

dataset = PotDataset(800)
train_set, test_set = random_split(dataset, [700, 100])
train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=args.batch_size)
model = VAE(args.latent)
optimizer = optim.Adam(model.parameters(), lr=2e-3)


def train(epoch):
    model.train()
    train_loss, beta = 0, args.beta * min(1.0, (epoch + 1) / 2)
    for data in train_loader:
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        rec, kld = loss_function(recon_batch, data, mu, logvar)
        loss = (rec + beta * kld) / len(data)
        loss.backward()
        train_loss += loss.item() * len(data)
        optimizer.step()
    print(f"====> Epoch: {epoch} Average loss: {train_loss / len(train_set):.4f}")


def test():
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += sum(loss_function(recon_batch, data, mu, logvar)).item()
    print(f"====> Test set loss: {test_loss / len(test_set):.4f}")


if __name__ == "__main__":
    for epoch in range(args.epochs):
        train(epoch)
        test()
    with torch.no_grad():
        sample = model.decode(torch.randn(16, args.latent))
    print("share of ink in samples", sample.mean().item())
