"""Few-shot learning by prototypes: episodes of five classes, distances to the means of the supports as logits."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
CENTERS = torch.randn(30, 20)
WAY, SHOT, QUERY = 5, 3, 6


def episode(classes):
    chosen = classes[torch.randperm(len(classes))[:WAY]]
    points = CENTERS[chosen].unsqueeze(1) + 0.7 * torch.randn(WAY, SHOT + QUERY, 20)
    return points[:, :SHOT], points[:, SHOT:]


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 16))

    def forward(self, x):
        return self.net(x)


def logits_of(model, support, query):
    prototypes = model(support.reshape(WAY * SHOT, -1)).reshape(WAY, SHOT, -1).mean(dim=1)
    z = model(query.reshape(WAY * QUERY, -1))
    return -torch.cdist(z, prototypes).pow(2)


train_classes, test_classes = torch.arange(20), torch.arange(20, 30)
labels = torch.arange(WAY).repeat_interleave(QUERY)
model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
for step in range(50):
    model.train()
    support, query = episode(train_classes)
    logits = logits_of(model, support, query)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 15 == 14:
        model.eval()
        with torch.no_grad():
            support, query = episode(test_classes)
            accuracy = (logits_of(model, support, query).argmax(1) == labels).float().mean()
        print(step, loss.item(), accuracy.item())
