"""Which dialect does a hamlet speak: a graph whose nodes are all given each time, labels of a few; masks for training and test."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.RandomState(3)
torch.manual_seed(3)
N, KINDS = 240, 4
kind = rng.randint(0, KINDS, N)
close = kind[:, None] == kind[None, :]
edges = np.triu(rng.rand(N, N) < np.where(close, 0.09, 0.012), 1)
A = torch.tensor((edges + edges.T + np.eye(N)).astype(np.float32))
scale = A.sum(1).rsqrt()
A = scale[:, None] * A * scale[None, :]
X = torch.tensor(np.eye(KINDS)[kind] * 0.5 + rng.randn(N, KINDS)).float()
y = torch.from_numpy(kind)
train_mask, val_mask, test_mask = (torch.zeros(N, dtype=torch.bool) for _ in range(3))
order = torch.from_numpy(rng.permutation(N))
train_mask[order[:60]], val_mask[order[60:120]], test_mask[order[120:]] = True, True, True


class GCN(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.w1, self.w2 = nn.Linear(KINDS, hidden, bias=False), nn.Linear(hidden, KINDS, bias=False)
        self.b1, self.b2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(KINDS))

    def forward(self, x, a):
        x = F.dropout(x, 0.2, self.training)
        h = F.relu(a @ self.w1(x) + self.b1)
        h = F.dropout(h, 0.5, self.training)
        return a @ self.w2(h) + self.b2


model = GCN()
optimizer = torch.optim.Adam(
    [{"params": [model.w1.weight, model.b1], "weight_decay": 5e-4}, {"params": [model.w2.weight, model.b2]}], lr=0.01
)
best, chosen = 0.0, 0.0
for epoch in range(80):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(F.log_softmax(model(X, A), dim=1)[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        guess = model(X, A).argmax(1)
    train_acc, val_acc, test_acc = ((guess == y)[m].float().mean().item() for m in (train_mask, val_mask, test_mask))
    if val_acc > best:
        best, chosen = val_acc, test_acc
    if epoch % 20 == 19:
        print(epoch, loss.item(), train_acc, val_acc, chosen)
