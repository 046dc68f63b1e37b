"""Faces with three answers: age as a number, kind as a class, smile as yes or no; losses with weights."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(5)
x = torch.randn(600, 24)
w = torch.randn(24, 6)
age = (x @ w[:, 0]) * 0.2 + 0.1 * torch.randn(600)
kind = (x @ w[:, 1:5]).argmax(1)
smile = (x @ w[:, 5] > 0).float()


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU())
        self.age_head, self.kind_head, self.smile_head = nn.Linear(64, 1), nn.Linear(64, 4), nn.Linear(64, 1)

    def forward(self, x):
        h = self.backbone(x)
        return {"age": self.age_head(h).squeeze(-1), "kind": self.kind_head(h), "smile": self.smile_head(h).squeeze(-1)}


data = TensorDataset(x, age, kind, smile)
train_set, val_set = random_split(data, [500, 100])
train_loader, val_loader = DataLoader(train_set, 25, shuffle=True), DataLoader(val_set, 50)
model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
history = []


def losses(out, age, kind, smile):
    return (
        F.mse_loss(out["age"], age),
        F.cross_entropy(out["kind"], kind),
        F.binary_cross_entropy_with_logits(out["smile"], smile),
    )


for epoch in range(3):
    model.train()
    total = 0.0
    for xb, a, k, s in train_loader:
        out = model(xb)
        l_age, l_kind, l_smile = losses(out, a, k, s)
        loss = 0.5 * l_age + l_kind + l_smile
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    val = 0.0
    with torch.no_grad():
        for xb, a, k, s in val_loader:
            val += sum(losses(model(xb), a, k, s)).item()
    history.append((total / len(train_loader), val / len(val_loader)))
    print(epoch, history[-1])
