"""Papers that cite each other: attention over edges alone (GAT), additive scores, heads side by side, a label for each node."""

import badak as torch
from badak import nn
from badak.nn import functional as F


class GraphAttention(nn.Module):
    def __init__(self, d_in, d_out, heads):
        super().__init__()
        self.heads = heads
        self.W = nn.Linear(d_in, d_out, bias=False)
        self.a_src = nn.Parameter(torch.randn(heads, d_out // heads) * 0.3)
        self.a_dst = nn.Parameter(torch.randn(heads, d_out // heads) * 0.3)

    def forward(self, h, adj):
        wh = self.W(h).unflatten(-1, (self.heads, -1))
        src, dst = (wh * self.a_src).sum(-1), (wh * self.a_dst).sum(-1)
        e = F.leaky_relu(src.transpose(1, 2)[:, :, :, None] + dst.transpose(1, 2)[:, :, None, :], 0.2)
        e = e.masked_fill(~adj[:, None], -1e9)
        alpha = torch.softmax(e, dim=-1)
        return torch.einsum("bhij,bjhd->bihd", alpha, wh).flatten(2)


class GraphBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = GraphAttention(d, d, heads)
        self.w1, self.w2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, h, adj):
        h = h + F.elu(self.attention(self.norm1(h), adj))
        return h + self.w2(F.relu(self.w1(self.norm2(h))))


class NodeClassifier(nn.Module):
    def __init__(self, features=10, d=32, heads=4, depth=2, classes=5):
        super().__init__()
        self.embed = nn.Linear(features, d)
        self.blocks = nn.ModuleList([GraphBlock(d, heads) for _ in range(depth)])
        self.classify = nn.Linear(d, classes)

    def forward(self, nodes, adj):
        h = self.embed(nodes)
        for block in self.blocks:
            h = block(h, adj)
        return self.classify(h)


def build():
    adj = torch.rand(3, 13, 13) < 0.3
    adj = adj | adj.transpose(1, 2) | torch.eye(13, dtype=torch.bool)
    return {"model": NodeClassifier(), "batch": {"nodes": torch.randn(3, 13, 10), "adj": adj}}
