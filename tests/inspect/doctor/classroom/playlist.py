# Implicit feedback: who listens to what. Neural collaborative filtering with sampled negatives.
# Leave-one-out test: hit rate and NDCG among 50 candidates.
import logging
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("ncf")

N_USERS, N_SONGS, N_NEG, TOP_K = 150, 90, 4, 10


def simulate(rng):
    """For each user the songs in the order in which they were played."""
    taste = rng.normal(size=(N_USERS, 4))
    style = rng.normal(size=(N_SONGS, 4))
    fame = rng.normal(scale=0.7, size=N_SONGS)
    history = []
    for u in range(N_USERS):
        score = taste[u] @ style.T * 1.3 + fame + rng.gumbel(size=N_SONGS)
        history.append(np.argsort(-score)[:14])
    return history


class PlayDataset(Dataset):
    def __init__(self, positives, played, rng):
        self.positives, self.played, self.rng = positives, played, rng
        self.resample()

    def resample(self):
        """New negatives for every epoch."""
        users, songs, labels = [], [], []
        for u, s in self.positives:
            users.append(u)
            songs.append(s)
            labels.append(1.0)
            for _ in range(N_NEG):
                neg = self.rng.integers(N_SONGS)
                while neg in self.played[u]:
                    neg = self.rng.integers(N_SONGS)
                users.append(u)
                songs.append(neg)
                labels.append(0.0)
        self.users = torch.tensor(users)
        self.songs = torch.tensor(songs)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.users[i], self.songs[i], self.labels[i]


class NeuMF(nn.Module):
    def __init__(self, dim=12, layers=(32, 16)):
        super().__init__()
        self.user_gmf = nn.Embedding(N_USERS, dim)
        self.song_gmf = nn.Embedding(N_SONGS, dim)
        self.user_mlp = nn.Embedding(N_USERS, dim)
        self.song_mlp = nn.Embedding(N_SONGS, dim)
        mlp, width = [], 2 * dim
        for out in layers:
            mlp += [nn.Linear(width, out), nn.ReLU(), nn.Dropout(0.1)]
            width = out
        self.mlp = nn.Sequential(*mlp)
        self.predict = nn.Linear(dim + width, 1)
        for table in (self.user_gmf, self.song_gmf, self.user_mlp, self.song_mlp):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, user, song):
        gmf = self.user_gmf(user) * self.song_gmf(song)
        mlp = self.mlp(torch.cat([self.user_mlp(user), self.song_mlp(song)], dim=-1))
        return self.predict(torch.cat([gmf, mlp], dim=-1)).view(-1)


@torch.no_grad()
def evaluate(model, test_pairs, candidates):
    model.eval()
    hits, ndcgs = [], []
    for (user, song), others in zip(test_pairs, candidates):
        items = torch.tensor([song, *others])
        scores = model(torch.full_like(items, user), items)
        rank = (scores > scores[0]).sum().item()
        hits.append(float(rank < TOP_K))
        ndcgs.append(1 / math.log2(rank + 2) if rank < TOP_K else 0.0)
    return np.mean(hits), np.mean(ndcgs)


def main():
    torch.manual_seed(4)
    rng = np.random.default_rng(4)
    history = simulate(rng)
    played = [set(h.tolist()) for h in history]
    train_pairs = [(u, int(s)) for u, h in enumerate(history) for s in h[:-1]]
    test_pairs = [(u, int(h[-1])) for u, h in enumerate(history)]
    candidates = [rng.choice([s for s in range(N_SONGS) if s not in played[u]], 49, replace=False).tolist() for u, _ in test_pairs]

    train_set = PlayDataset(train_pairs, played, rng)
    loader = DataLoader(train_set, batch_size=256, shuffle=True)
    model = NeuMF()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.BCEWithLogitsLoss()
    best_hr, best_epoch = 0.0, -1
    for epoch in range(8):
        model.train()
        train_set.resample()
        epoch_loss = 0.0
        for user, song, label in loader:
            optimizer.zero_grad()
            prediction = model(user, song)
            loss = criterion(prediction, label)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * label.size(0)
        epoch_loss /= len(train_set)
        hr, ndcg = evaluate(model, test_pairs, candidates)
        log.info("epoch %d | loss %.4f | HR@%d %.3f | NDCG@%d %.3f", epoch, epoch_loss, TOP_K, hr, TOP_K, ndcg)
        if hr > best_hr:
            best_hr, best_epoch = hr, epoch
            torch.save(model.state_dict(), "ncf.pt")
    log.info("best epoch %d, HR %.3f (chance: %.3f)", best_epoch, best_hr, TOP_K / 50)


if __name__ == "__main__":
    main()
