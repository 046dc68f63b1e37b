"""Two questions of one body: what a dish costs and which kitchen it is from, losses weighed by learned uncertainties."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

KITCHENS, INGREDIENTS = 5, 60
rng = random.Random(91)
price = [rng.uniform(0.5, 4.0) for _ in range(INGREDIENTS)]
usual = [rng.sample(range(INGREDIENTS), 14) for _ in range(KITCHENS)]


def dish():
    kitchen = rng.randrange(KITCHENS)
    parts = [rng.choice(usual[kitchen]) if rng.random() < 0.8 else rng.randrange(INGREDIENTS) for _ in range(rng.randint(3, 9))]
    portions = rng.randint(1, 4)
    cost = sum(price[i] for i in parts) * (0.6 + 0.4 * portions) + rng.gauss(0, 0.5)
    return parts, portions, cost, kitchen


def as_tensors(dishes):
    flat, offsets = [], []
    for parts, *_ in dishes:
        offsets.append(len(flat))
        flat.extend(parts)
    portions = torch.tensor([d[1] for d in dishes], dtype=torch.float32)
    costs = torch.tensor([d[2] for d in dishes])
    kitchens = torch.tensor([d[3] for d in dishes])
    return torch.tensor(flat), torch.tensor(offsets), portions, costs, kitchens


class Dinner(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(INGREDIENTS, width, mode="sum")
        nn.init.normal_(self.bag.weight, std=0.3)
        self.shared = nn.Sequential(nn.Linear(width + 1, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32), nn.ReLU())
        self.cost_head = nn.Linear(32, 1)
        self.kitchen_head = nn.Linear(32, KITCHENS)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, parts, offsets, portions):
        x = torch.cat([self.bag(parts, offsets), portions[:, None] / 4], dim=1)
        h = self.shared(x)
        return self.cost_head(h)[:, 0], self.kitchen_head(h)

    def weigh(self, cost_loss, kitchen_loss):
        precision = torch.exp(-self.log_vars)
        return precision[0] * cost_loss + precision[1] * kitchen_loss + self.log_vars.sum()


torch.manual_seed(91)
train, valid = [dish() for _ in range(800)], [dish() for _ in range(200)]
costs = torch.tensor([d[2] for d in train])
center, scale = costs.mean(), costs.std()
model = Dinner()
optimizer = torch.optim.Adam(
    [
        {"params": [p for name, p in model.named_parameters() if name != "log_vars"]},
        {"params": [model.log_vars], "lr": 0.02},
    ],
    lr=3e-3,
)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=75)

for epoch in range(3):
    model.train()
    rng.shuffle(train)
    for i in range(0, len(train), 32):
        parts, offsets, portions, costs, kitchens = as_tensors(train[i : i + 32])
        cost, logits = model(parts, offsets, portions)
        cost_loss = F.smooth_l1_loss(cost, (costs - center) / scale)
        kitchen_loss = F.cross_entropy(logits, kitchens)
        loss = model.weigh(cost_loss, kitchen_loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cosine.step()
    model.eval()
    with torch.no_grad():
        parts, offsets, portions, costs, kitchens = as_tensors(valid)
        cost, logits = model(parts, offsets, portions)
        error = (cost * scale + center - costs).abs().mean().item()
        right = (logits.argmax(dim=1) == kitchens).float().mean().item()
    print(f"epoch {epoch}: off by {error:.2f}, kitchens {right:.1%}")
