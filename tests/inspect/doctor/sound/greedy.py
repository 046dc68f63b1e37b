"""Layer by layer: each autoencoder layer is trained alone on what the one before gives (frozen)."""

import torch
from torch import nn

torch.manual_seed(14)
basis = torch.randn(6, 20)
codes = torch.randn(800, 6)
data = torch.tanh(codes @ basis) + 0.05 * torch.randn(800, 20)
label = (codes[:, 0] + codes[:, 1] > 0).float()


class Layer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(n_in, n_out), nn.Tanh())
        self.decode = nn.Linear(n_out, n_in)


sizes = [20, 16, 10]
stack = [Layer(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
seen = data[:640]
for depth, layer in enumerate(stack):
    optimizer = torch.optim.Adam(layer.parameters(), lr=4e-3)
    for _ in range(4):
        for rows in torch.randperm(len(seen)).split(40):
            x = seen[rows]
            noisy = x + 0.1 * torch.randn_like(x)
            loss = nn.functional.mse_loss(layer.decode(layer.encode(noisy)), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("layer", depth, loss.item())
    with torch.no_grad():
        seen = layer.encode(seen)

model = nn.Sequential(*[layer.encode for layer in stack], nn.Linear(10, 1))
optimizer = torch.optim.Adam([{"params": model[-1].parameters(), "lr": 1e-2}, {"params": model[:-1].parameters(), "lr": 1e-3}])
criterion = nn.BCEWithLogitsLoss()
for epoch in range(4):
    for rows in torch.randperm(640).split(40):
        loss = criterion(model(data[rows]).squeeze(1), label[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print("tuned", epoch, ((model(data[640:]).squeeze(1) > 0) == (label[640:] > 0.5)).float().mean().item())
