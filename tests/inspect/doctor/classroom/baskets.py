"""Shopping baskets as sets: which customer bought it? Items are embedded and attended to, a contrastive loss by kind, k-NN test."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, ITEMS, KINDS, LONGEST = 0, 61, 8, 10
rng = np.random.RandomState(8)
torch.manual_seed(8)
taste = rng.dirichlet(np.full(ITEMS - 1, 0.15), KINDS)


def baskets(n):
    kind = rng.randint(0, KINDS, n)
    items = np.full((n, LONGEST), PAD)
    prices = np.zeros((n, LONGEST), dtype=np.float32)
    for row, k in enumerate(kind):
        size = rng.randint(4, LONGEST + 1)
        items[row, :size] = 1 + rng.choice(ITEMS - 1, size, p=taste[k])
        prices[row, :size] = np.log1p(items[row, :size]) - 3 + 0.1 * rng.randn(size)
    return items, prices, kind


items, prices, kind = baskets(1500)
perm = rng.permutation(len(kind))
items, prices, kind = items[perm], prices[perm], kind[perm]
n_train = 1100
train = tuple(torch.from_numpy(a[:n_train]) for a in (items, prices, kind))
test = tuple(torch.from_numpy(a[n_train:]) for a in (items, prices, kind))


class SetEncoder(nn.Module):
    def __init__(self, d=32, heads=2, out=16):
        super().__init__()
        self.item = nn.Embedding(ITEMS, d, padding_idx=PAD)
        self.price = nn.Linear(1, d)
        self.layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.1, batch_first=True)
        self.seed = nn.Parameter(torch.randn(1, 1, d) * 0.2)
        self.pool = nn.MultiheadAttention(d, heads, batch_first=True)
        self.norm = nn.LayerNorm(d)
        self.project = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, out))

    def encode(self, ids, price):
        empty = ids == PAD
        x = self.item(ids) + self.price(price.unsqueeze(-1))
        x = self.layer(x, src_key_padding_mask=empty)
        pooled, _ = self.pool(self.seed.expand(len(ids), -1, -1), x, x, key_padding_mask=empty)
        return self.norm(pooled.squeeze(1))

    def forward(self, ids, price):
        return F.normalize(self.project(self.encode(ids, price)), dim=-1)


def supcon(z, labels, temperature=0.2):
    sim = z @ z.T / temperature
    self_mask = torch.eye(len(z), dtype=torch.bool)
    sim = sim.masked_fill(self_mask, -1e9)
    log_prob = sim - torch.logsumexp(sim, dim=1, keepdim=True)
    positive = (labels[:, None] == labels[None, :]) & ~self_mask
    count = positive.sum(1)
    per_row = -(log_prob * positive).sum(1) / count.clamp(min=1)
    return per_row[count > 0].mean()


def knn_accuracy(model, k=5):
    was = model.training
    model.eval()
    with torch.no_grad():
        bank = F.normalize(model.encode(train[0], train[1]), dim=-1)
        query = F.normalize(model.encode(test[0], test[1]), dim=-1)
        near = (query @ bank.T).topk(k, dim=1).indices
        votes = F.one_hot(train[2][near], KINDS).sum(1)
        accuracy = (votes.argmax(1) == test[2]).float().mean().item()
    model.train(was)
    return accuracy


model = SetEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 8))
BATCH, step = 100, 0
for epoch in range(5):
    model.train()
    shuffled = torch.randperm(n_train)
    total = 0.0
    for start in range(0, n_train, BATCH):
        rows = shuffled[start : start + BATCH]
        ids, price, labels = train[0][rows], train[1][rows], train[2][rows]
        keep = torch.rand(ids.shape) > 0.1
        keep[:, 0] = True
        ids = torch.where(keep, ids, torch.full_like(ids, PAD))
        z = model(ids, price)
        loss = supcon(z, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        total += loss.item()
        step += 1
    print(f"epoch {epoch} loss {total / (n_train // BATCH):.3f} knn {knn_accuracy(model):.3f}")
