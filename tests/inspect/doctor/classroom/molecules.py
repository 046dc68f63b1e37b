"""Energies of small graphs: messages along a dense adjacency, batches of graphs of other sizes, a scaled target, MAE."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Graphs(Dataset):
    def __init__(self, n, kinds=4, most=9):
        self.rows = []
        for _ in range(n):
            size = torch.randint(4, most + 1, ()).item()
            z = torch.randint(0, kinds, (size,))
            adj = (torch.rand(size, size) < 0.35).float().triu(1)
            adj = adj + adj.T
            energy = -5.0 * z.float().sum() + 2.0 * (adj * (z[:, None] == z[None])).sum() + 0.3 * torch.randn(())
            self.rows.append((z, adj, energy))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    most = max(len(z) for z, _, _ in rows)
    z, adj = torch.zeros(len(rows), most, dtype=torch.long), torch.zeros(len(rows), most, most)
    mask, y = torch.zeros(len(rows), most), torch.zeros(len(rows))
    for i, (a, b, e) in enumerate(rows):
        z[i, : len(a)], adj[i, : len(a), : len(a)], mask[i, : len(a)], y[i] = a, b, 1.0, e
    return z, adj, mask, y


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message, self.update, self.norm = nn.Linear(dim, dim), nn.Linear(2 * dim, dim), nn.LayerNorm(dim)

    def forward(self, h, adj):
        m = torch.bmm(adj, self.message(h)) / adj.sum(-1, keepdim=True).clamp(min=1)
        return self.norm(h + torch.relu(self.update(torch.cat([h, m], dim=-1))))


class GraphNet(nn.Module):
    def __init__(self, dim=32, depth=3):
        super().__init__()
        self.atoms = nn.Embedding(4, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(depth))
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1))

    def forward(self, z, adj, mask):
        h = self.atoms(z)
        for layer in self.layers:
            h = layer(h, adj)
        per_atom = self.readout(h).squeeze(-1)
        return (per_atom * mask).sum(dim=1)


torch.manual_seed(40)
train_set, val_set = random_split(Graphs(720), [600, 120])
energies = torch.stack([e for _, _, e in train_set])
mu, sigma = energies.mean(), energies.std()
train_loader = DataLoader(train_set, batch_size=40, shuffle=True, collate_fn=collate)
val_loader = DataLoader(val_set, batch_size=60, collate_fn=collate)
net = GraphNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
loss_fn = nn.SmoothL1Loss()
for epoch in range(3):
    net.train()
    for z, adj, mask, y in train_loader:
        pred = net(z, adj, mask)
        loss = loss_fn(pred, (y - mu) / sigma)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    error, seen = 0.0, 0
    with torch.no_grad():
        for z, adj, mask, y in val_loader:
            error += (net(z, adj, mask) * sigma + mu - y).abs().sum().item()
            seen += len(y)
    scheduler.step(error / seen)
    print(epoch, loss.item(), error / seen)
