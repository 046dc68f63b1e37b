"""Movie recommender: matrix factorization with biases, in PyTorch."""

import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def load_ratings(n_users, n_movies, n_ratings, seed):
    """Ratings 1 to 5 of users with a taste for movies with a genre."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 1, (n_users, 3))
    genre = rng.normal(0, 1, (n_movies, 3))
    user_bias = rng.normal(0, 0.4, n_users)
    movie_bias = rng.normal(0, 0.6, n_movies)
    users = rng.integers(0, n_users, n_ratings)
    movies = rng.integers(0, n_movies, n_ratings)
    score = (
        3.4 + user_bias[users] + movie_bias[movies] + 0.5 * (taste[users] * genre[movies]).sum(1) + rng.normal(0, 0.3, n_ratings)
    )
    return users, movies, np.clip(np.round(score), 1, 5)


class RatingsDataset(Dataset):
    def __init__(self, users, movies, ratings):
        self.users = torch.tensor(users, dtype=torch.long)
        self.movies = torch.tensor(movies, dtype=torch.long)
        self.ratings = torch.tensor(ratings, dtype=torch.float32)

    def __len__(self):
        return len(self.ratings)

    def __getitem__(self, idx):
        return self.users[idx], self.movies[idx], self.ratings[idx]


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_movies, n_factors, mean):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, n_factors)
        self.movie_factors = nn.Embedding(n_movies, n_factors)
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_bias = nn.Embedding(n_movies, 1)
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        nn.init.normal_(self.user_factors.weight, std=0.1)
        nn.init.normal_(self.movie_factors.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.movie_bias.weight)

    def forward(self, user, movie):
        dot = (self.user_factors(user) * self.movie_factors(movie)).sum(dim=1)
        bias = self.user_bias(user).squeeze(1) + self.movie_bias(movie).squeeze(1)
        return dot + bias + self.mean


def train_one_epoch(model, loader, optimizer, loss_fn):
    model.train()
    total = 0.0
    for user, movie, rating in loader:
        prediction = model(user, movie)
        loss = loss_fn(prediction, rating)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rating)
    return (total / len(loader.dataset)) ** 0.5


def rmse(model, loader):
    model.eval()
    squares = 0.0
    with torch.no_grad():
        for user, movie, rating in loader:
            squares += ((model(user, movie) - rating) ** 2).sum().item()
    return (squares / len(loader.dataset)) ** 0.5


def recommend(model, user, seen, k=5):
    model.eval()
    with torch.no_grad():
        movies = torch.arange(model.movie_bias.num_embeddings)
        scores = model(torch.full_like(movies, user), movies)
        scores[seen] = -float("inf")
        return scores.topk(k).indices.tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--factors", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--weight-decay", type=float, default=1e-5)
    args = parser.parse_args()
    torch.manual_seed(0)

    n_users, n_movies = 200, 120
    users, movies, ratings = load_ratings(n_users, n_movies, 8000, seed=0)
    order = np.random.default_rng(1).permutation(len(ratings))
    train_idx, test_idx = order[:6500], order[6500:]
    train_set = RatingsDataset(users[train_idx], movies[train_idx], ratings[train_idx])
    test_set = RatingsDataset(users[test_idx], movies[test_idx], ratings[test_idx])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=512)

    model = MatrixFactorization(n_users, n_movies, args.factors, ratings[train_idx].mean())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    loss_fn = nn.MSELoss()
    print(f"always the mean: test rmse {ratings[test_idx].std():.3f}")
    for epoch in range(args.epochs):
        train_rmse = train_one_epoch(model, train_loader, optimizer, loss_fn)
        test_rmse = rmse(model, test_loader)
        print(f"epoch {epoch + 1}: train rmse {train_rmse:.3f}, test rmse {test_rmse:.3f}")
    seen = torch.tensor(movies[users == 7])
    print("user 7 should watch", recommend(model, 7, seen))


if __name__ == "__main__":
    main()
