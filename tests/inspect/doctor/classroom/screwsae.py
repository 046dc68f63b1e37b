"""Find defective screws: a convolutional autoencoder that has seen good ones only.

The error of reconstruction is the anomaly score; the threshold is a percentile of the
scores of good pictures.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_screw(rng, defect=False):
    img = rng.normal(0.0, 0.03, (32, 32)) + 0.1
    x0 = rng.integers(12, 18)
    length = rng.integers(16, 24)
    img[4 : 4 + length, x0 : x0 + 4] += 0.6
    img[4 : 4 + length : 2, x0 - 1 : x0 + 5] += 0.2
    img[2:6, x0 - 3 : x0 + 7] += 0.25
    if defect:
        r, c = rng.integers(6, 22), rng.integers(8, 22)
        img[r : r + 6, c : c + 5] = rng.choice([0.0, 0.95])
    return np.clip(img, 0, 1)


def load_split(n_good, n_bad, seed):
    rng = np.random.default_rng(seed)
    imgs = [make_screw(rng) for _ in range(n_good)] + [make_screw(rng, True) for _ in range(n_bad)]
    target = np.array([0] * n_good + [1] * n_bad)
    return np.stack(imgs).astype(np.float32)[:, None], target


class ConvAutoencoder(nn.Module):
    def __init__(self, latent=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 8 * 8, latent),
        )
        self.expand = nn.Linear(latent, 16 * 8 * 8)
        self.decoder = nn.Sequential(
            nn.ReLU(),
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        code = self.encoder(x)
        hidden = self.expand(code).view(-1, 16, 8, 8)
        return self.decoder(hidden)


def anomaly_scores(model, images):
    """Mean squared error of each picture."""
    model.eval()
    with torch.no_grad():
        recon = model(images)
        return ((recon - images) ** 2).mean(dim=(1, 2, 3))


def auroc(scores, target):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = target == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--noise", type=float, default=0.05)
    opt = ap.parse_args()
    torch.manual_seed(0)

    train_x, _ = load_split(480, 0, seed=10)
    valid_x, _ = load_split(96, 0, seed=11)
    test_x, test_y = load_split(80, 80, seed=12)
    train_loader = DataLoader(TensorDataset(torch.from_numpy(train_x)), batch_size=opt.batch, shuffle=True)
    valid = torch.from_numpy(valid_x)
    test = torch.from_numpy(test_x)

    model = ConvAutoencoder()
    optim = torch.optim.Adam(model.parameters(), lr=opt.lr, weight_decay=1e-6)
    mse = nn.MSELoss()
    history = []
    best, patience = float("inf"), 0
    for epoch in range(1, opt.epochs + 1):
        model.train()
        total = 0.0
        for (clean,) in train_loader:
            noisy = clean + opt.noise * torch.randn_like(clean)
            output = model(noisy)
            loss = mse(output, clean)
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item() * clean.shape[0]
        train_loss = total / len(train_loader.dataset)
        val_loss = anomaly_scores(model, valid).mean().item()
        history.append((train_loss, val_loss))
        print(f"epoch {epoch:2d} | train {train_loss:.5f} | valid {val_loss:.5f}")
        if val_loss < best:
            best, patience = val_loss, 0
            torch.save(model.state_dict(), "screw_ae.pth")
        else:
            patience += 1
            if patience >= 3:
                break

    model.load_state_dict(torch.load("screw_ae.pth"))
    threshold = np.percentile(anomaly_scores(model, valid).numpy(), 95)
    scores = anomaly_scores(model, test).numpy()
    flagged = scores > threshold
    tp = (flagged & (test_y == 1)).sum()
    precision, recall = tp / max(flagged.sum(), 1), tp / (test_y == 1).sum()
    print(f"threshold {threshold:.5f}, AUROC {auroc(scores, test_y):.3f}")
    print(f"precision {precision:.3f}, recall {recall:.3f}")


if __name__ == "__main__":
    main()
