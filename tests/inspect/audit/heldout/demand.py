"""Demand of many shops (DeepAR): an LSTM reads yesterday's value, what is known of the day and which shop it is; a Gaussian for each day."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class DeepAR(nn.Module):
    def __init__(self, n_shops=12, n_covariates=3, embedding_dim=6, hidden=24, layers=2, dropout=0.1):
        super().__init__()
        self.embedding = nn.Embedding(n_shops, embedding_dim)
        self.lstm = nn.LSTM(1 + n_covariates + embedding_dim, hidden, layers, batch_first=True, dropout=dropout)
        self.drop = nn.Dropout(dropout)
        self.mu = nn.Linear(hidden, 1)
        self.presigma = nn.Linear(hidden, 1)

    def forward(self, values, covariates, shop):
        # values (B, T): up to yesterday; covariates (B, T, C): of the day itself
        B, T = values.shape
        scale = 1 + values.abs().mean(dim=1, keepdim=True)
        which = self.embedding(shop).unsqueeze(1).expand(-1, T, -1)
        x = torch.cat([(values / scale).unsqueeze(-1), covariates, which], dim=-1)
        h, _ = self.lstm(x)
        h = self.drop(h)
        mu = self.mu(h).squeeze(-1) * scale
        sigma = F.softplus(self.presigma(h)).squeeze(-1) * scale + 1e-6
        return mu, sigma


def build():
    series = torch.randn(5, 21).cumsum(dim=1) * 0.3 + 5.0
    covariates = torch.randn(5, 20, 3)
    shop = torch.tensor([3, 0, 11, 7, 5])
    inputs, labels = series[:, :-1], series[:, 1:]
    model = DeepAR()

    def loss(out):
        mu, sigma = out
        return (torch.log(sigma) + 0.5 * ((labels - mu) / sigma) ** 2).mean()

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {"model": model, "batch": (inputs, covariates, shop), "loss": loss, "optimizer": optimizer}
