"""LBFGS with a closure over the whole of a small data set, weight decay written into the loss."""

import torch
from torch import nn

torch.manual_seed(1)
x = torch.randn(300, 5)
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).float()
train_x, train_y, test_x, test_y = x[:220], y[:220], x[220:], y[220:]
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4, history_size=10, line_search_fn="strong_wolfe")
criterion = nn.BCEWithLogitsLoss()


def closure():
    optimizer.zero_grad()
    decay = sum(p.pow(2).sum() for p in model.parameters() if p.dim() > 1)
    loss = criterion(model(train_x).squeeze(1), train_y) + 1e-4 * decay
    loss.backward()
    return loss


for epoch in range(30):
    model.train()
    loss = optimizer.step(closure)
    model.eval()
    with torch.no_grad():
        right = ((model(test_x).squeeze(1) > 0).float() == test_y).float().mean()
    print(epoch, loss.item(), right.item())
