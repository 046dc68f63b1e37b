"""Metric learning with an additive angular margin (ArcFace); retrieval of people never seen before."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

gen = torch.Generator().manual_seed(8)
PEOPLE, FEATURES, EMB = 24, 40, 16
mix = torch.randn(12, FEATURES, generator=gen) / 12**0.5


def photos(identities, per):
    who = torch.arange(len(identities)).repeat_interleave(per)
    latent = identities[who] + 0.35 * torch.randn(len(who), 12, generator=gen)
    return torch.tanh(latent @ mix) + 0.05 * torch.randn(len(who), FEATURES, generator=gen), who


people, strangers = torch.randn(PEOPLE, 12, generator=gen), torch.randn(10, 12, generator=gen)
x_train, y_train = photos(people, 20)
x_query, y_query = photos(strangers, 4)
x_gallery, y_gallery = photos(strangers, 4)
center, scale = x_train.mean(0), x_train.std(0)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(FEATURES, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, EMB)

    def forward(self, x):
        h = F.relu(self.bn1(self.fc1((x - center) / scale)))
        h = F.dropout(F.relu(self.fc2(h)) + h, 0.1, training=self.training)
        return F.normalize(self.fc3(h), dim=1)


class ArcMargin(nn.Module):
    def __init__(self, classes, s=12.0, m=0.2):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(classes, EMB))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.m = s, m

    def forward(self, emb, label):
        cosine = emb @ F.normalize(self.weight, dim=1).t()
        theta = torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))
        with_margin = torch.cos((theta + self.m).clamp(max=math.pi))
        one_hot = F.one_hot(label, cosine.size(1)).float()
        return self.s * (one_hot * with_margin + (1.0 - one_hot) * cosine)


def top1(backbone):
    backbone.eval()
    with torch.no_grad():
        similarity = backbone(x_query) @ backbone(x_gallery).t()
        nearest = similarity.argmax(dim=1)
    backbone.train()
    return (y_gallery[nearest] == y_query).float().mean().item()


backbone, margin = Embedder(), ArcMargin(PEOPLE)
optimizer = torch.optim.SGD(
    [{"params": backbone.parameters(), "weight_decay": 5e-4}, {"params": margin.parameters(), "weight_decay": 1e-3}],
    lr=0.05,
    momentum=0.9,
)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=5)
for epoch in range(8):
    order = torch.randperm(len(x_train), generator=gen)
    for start in range(0, len(order) - 31, 32):
        idx = order[start : start + 32]
        xb, yb = x_train[idx], y_train[idx]
        embedding = backbone(xb)
        logits = margin(embedding, yb)
        loss = F.cross_entropy(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
    print(f"epoch {epoch} loss {loss.item():.3f} retrieval {top1(backbone):.3f}")
