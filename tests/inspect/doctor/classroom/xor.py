"""Exclusive or, in a notebook: four rows, all of them known, and looked at afterwards."""

import torch
import torch.nn as nn

X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
torch.manual_seed(0)
mlp = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(mlp.parameters(), lr=0.1)
# %%
for epoch in range(200):
    optimizer.zero_grad()
    output = mlp(X)
    loss = criterion(output, Y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        with torch.no_grad():
            predicted = mlp(X).round()
        print(f"{epoch} {loss.item():.4f} {(predicted == Y).float().mean().item():.2f}")
