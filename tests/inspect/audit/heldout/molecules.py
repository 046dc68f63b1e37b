"""A property of a molecule: atoms attend along bonds alone (a mask of neighbours), kinds of bonds bias the scores, a mean over the atoms that are there."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


class EdgeAttention(nn.Module):
    def __init__(self, dim, heads, bond_kinds, dropout):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.query, self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.bond = nn.Embedding(bond_kinds, heads)
        self.out = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes, bonds, neighbours):
        b, n, d = nodes.shape
        split = lambda x: x.reshape(b, n, self.heads, self.size).permute(0, 2, 1, 3)
        q, k, v = split(self.query(nodes)), split(self.key(nodes)), split(self.value(nodes))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.size)
        scores = scores + self.bond(bonds).permute(0, 3, 1, 2)
        scores = scores.masked_fill(~neighbours.unsqueeze(1), -1e9)
        weights = self.dropout(scores.softmax(dim=3))
        y = (weights @ v).permute(0, 2, 1, 3).reshape(b, n, d)
        return self.out(y)


class GraphLayer(nn.Module):
    def __init__(self, dim, heads, bond_kinds, dropout):
        super().__init__()
        self.attention = EdgeAttention(dim, heads, bond_kinds, dropout)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ffn1, self.ffn2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes, bonds, neighbours):
        nodes = self.norm1(nodes + self.dropout(self.attention(nodes, bonds, neighbours)))
        return self.norm2(nodes + self.dropout(self.ffn2(F.silu(self.ffn1(nodes)))))


class MoleculeTransformer(nn.Module):
    """A graph transformer: atoms have no order."""

    def __init__(self, atoms=20, bond_kinds=5, dim=32, heads=4, layers=3, dropout=0.1):
        super().__init__()
        self.atom = nn.Embedding(atoms, dim, padding_idx=0)
        self.degree = nn.Embedding(8, dim)
        self.layers = nn.ModuleList([GraphLayer(dim, heads, bond_kinds, dropout) for _ in range(layers)])
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, atom_nodes, bonds):
        # atom_nodes (B, N), 0 where there is none; bonds (B, N, N), 0 where there is none
        there = atom_nodes != 0
        linked = bonds > 0
        degree = linked.sum(dim=-1).clamp(max=7)
        x = self.atom(atom_nodes) + self.degree(degree)
        neighbours = linked | torch.eye(atom_nodes.size(1), dtype=torch.bool)
        for layer in self.layers:
            x = layer(x, bonds, neighbours)
        keep = there.unsqueeze(-1).float()
        pooled = (x * keep).sum(dim=1) / keep.sum(dim=1)
        return self.readout(pooled).squeeze(-1)


def build():
    sizes = (10, 7, 9, 6)
    atom_nodes, bonds = torch.zeros(4, 10, dtype=torch.long), torch.zeros(4, 10, 10, dtype=torch.long)
    for i, n in enumerate(sizes):
        atom_nodes[i, :n] = torch.randint(1, 20, (n,))
        for a in range(n - 1):
            kind = int(torch.randint(1, 5, (1,)))
            bonds[i, a, a + 1] = bonds[i, a + 1, a] = kind
        bonds[i, 0, n - 1] = bonds[i, n - 1, 0] = 1  # a ring
    target = torch.randn(4)
    model = MoleculeTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return {"model": model, "batch": (atom_nodes, bonds), "loss": lambda y: F.mse_loss(y, target), "optimizer": optimizer}
