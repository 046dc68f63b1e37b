"""A graph network on one graph: the whole of it goes in at every step, masks say which nodes count."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(29)
N = 60
labels = torch.arange(N) % 3
same = labels[:, None] == labels[None]
A = ((torch.rand(N, N) < torch.where(same, 0.3, 0.03)).triu(1)).float()
A = A + A.t() + torch.eye(N)
norm = A / A.sum(1, keepdim=True)
features = torch.randn(N, 12)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[torch.randperm(N)[:20]] = True
test_mask = ~train_mask


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(12, 24), nn.Linear(24, 3)

    def forward(self, x, adj):
        x = F.relu(adj @ self.one(x))
        x = F.dropout(x, 0.3, training=self.training)
        return adj @ self.two(x)


net = GCN()
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(60):
    net.train()
    out = net(features, norm)
    loss = F.cross_entropy(out[train_mask], labels[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 5 == 0:
        net.eval()
        with torch.no_grad():
            guess = net(features, norm).argmax(1)
            print(epoch, loss.item(), (guess[test_mask] == labels[test_mask]).float().mean().item())
