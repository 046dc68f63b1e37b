"""Accuracy of the training rows and of the test rows after each epoch, by one function, to see how far they part."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(1)
np.random.seed(1)
points = np.random.randn(600, 2)
labels = (points[:, 0] * points[:, 1] > 0).astype(np.int64)
flipped = np.random.rand(600) < 0.05
labels = np.where(flipped, 1 - labels, labels)
dataset = TensorDataset(torch.tensor(points, dtype=torch.float32), torch.tensor(labels))
train_set, test_set = random_split(dataset, [450, 150])
train_loader = DataLoader(train_set, batch_size=30, shuffle=True)
train_eval_loader = DataLoader(train_set, batch_size=150)
test_loader = DataLoader(test_set, batch_size=150)


def evaluate(model, loader):
    model.eval()
    correct, count, loss_sum = 0, 0, 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss_sum += nn.functional.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(dim=1) == y).sum().item()
            count += len(y)
    return loss_sum / count, correct / count


model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
history = {"train_loss": [], "train_acc": [], "test_loss": [], "test_acc": []}
for epoch in range(5):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    train_loss, train_acc = evaluate(model, train_eval_loader)
    test_loss, test_acc = evaluate(model, test_loader)
    for key, value in zip(history, (train_loss, train_acc, test_loss, test_acc)):
        history[key].append(value)
    print(f"epoch {epoch}: train {train_loss:.3f} {train_acc:.3f}, test {test_loss:.3f} {test_acc:.3f}")
