"""Prices in thousands from columns of different units: inputs and prices are scaled, errors are told in thousands."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(31)
rng = np.random.RandomState(0)
rooms, area, age = rng.randint(1, 7, 1000), rng.uniform(30, 250, 1000), rng.uniform(0, 80, 1000)
features = np.stack([rooms, area, age, rng.normal(size=1000)], axis=1)
price = 40 * rooms + 2.2 * area - 0.8 * age + rng.normal(size=1000) * 10
order = rng.permutation(1000)
features, price = features[order], price[order]
x_train, x_test, y_train, y_test = features[:800], features[800:], price[:800], price[800:]
x_mean, x_std = x_train.mean(0), x_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()


class Houses(Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor((x - x_mean) / x_std, dtype=torch.float32)
        self.y = torch.tensor((y - y_mean) / y_std, dtype=torch.float32).view(-1, 1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


train_loader = DataLoader(Houses(x_train, y_train), batch_size=40, shuffle=True)
test_loader = DataLoader(Houses(x_test, y_test), batch_size=50, shuffle=False)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
loss_function = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    for inputs, target in train_loader:
        optimizer.zero_grad()
        prediction = model(inputs)
        loss = loss_function(prediction, target)
        loss.backward()
        optimizer.step()
    model.eval()
    error, count = 0.0, 0
    with torch.no_grad():
        for inputs, target in test_loader:
            prediction = model(inputs)
            error += (prediction - target).abs().sum().item() * y_std
            count += len(target)
    print(f"{epoch}: loss {loss.item():.4f}, mean error {error / count:.1f} thousand")
