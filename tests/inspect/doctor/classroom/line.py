"""The first program of many courses: a line through points, all rows at once, SGD."""

import torch
from torch import nn

torch.manual_seed(42)
X = torch.arange(0, 1, 0.02).unsqueeze(1)
y = 0.7 * X + 0.3
split = int(0.8 * len(X))
X_train, y_train, X_test, y_test = X[:split], y[:split], X[split:], y[split:]


class LinearRegressionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(1))
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, x):
        return self.weights * x + self.bias


model_0 = LinearRegressionModel()
loss_fn = nn.L1Loss()
optimizer = torch.optim.SGD(params=model_0.parameters(), lr=0.01)
train_losses, test_losses = [], []
for epoch in range(100):
    model_0.train()
    y_pred = model_0(X_train)
    loss = loss_fn(y_pred, y_train)
    train_losses.append(loss.detach().numpy())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model_0.eval()
    with torch.inference_mode():
        test_losses.append(loss_fn(model_0(X_test), y_test).detach().numpy())
    if epoch % 20 == 0:
        print(epoch, train_losses[-1], test_losses[-1])
