"Layers of torch_geometric, each trained for a few steps on one random graph, printed: the same with PyTorch as with badak."

import torch
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    ARMAConv,
    ChebConv,
    EdgeConv,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GraphConv,
    MessagePassing,
    RGCNConv,
    SAGEConv,
    TransformerConv,
    global_max_pool,
    global_mean_pool,
)  # fmt: skip
from torch_geometric.utils import degree, scatter, softmax, to_torch_coo_tensor, to_torch_csr_tensor, to_undirected

torch.manual_seed(0)
NODES, EDGES = 30, 90
edges, x = torch.randint(0, NODES, (2, EDGES)), torch.randn(NODES, 8)
labels, weight = torch.randint(0, 3, (NODES,)), torch.rand(EDGES)
coo, csr = to_torch_coo_tensor(edges, size=NODES).t().coalesce(), to_torch_csr_tensor(edges, size=NODES)


class Furthest(MessagePassing):
    def __init__(self, inputs, outputs):
        super().__init__(aggr="max")
        self.lin = torch.nn.Linear(2 * inputs, outputs)

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)

    def message(self, x_i, x_j):
        return self.lin(torch.cat([x_i, x_j - x_i], -1))


class Net(torch.nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, *graph):
        return self.second(F.relu(self.first(x, *graph)), *graph)


def mlp(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, outputs))


NETS = {
    "gcn": (GCNConv(8, 16), GCNConv(16, 3), edges),
    "gcn, weighted": (GCNConv(8, 16), GCNConv(16, 3), edges, weight),
    "gcn, sparse adjacency": (GCNConv(8, 16), GCNConv(16, 3), coo),
    "gcn, CSR adjacency": (GCNConv(8, 16), GCNConv(16, 3), csr),
    "gat": (GATConv(8, 4, heads=2), GATConv(8, 3), edges),
    "gat, sparse adjacency": (GATConv(8, 4, heads=2), GATConv(8, 3), coo),
    "gatv2": (GATv2Conv(8, 4, heads=2), GATv2Conv(8, 3), edges),
    "sage": (SAGEConv(8, 16), SAGEConv(16, 3), edges),
    "sage, max": (SAGEConv(8, 16, aggr="max"), SAGEConv(16, 3), edges),
    "sage, sparse adjacency": (SAGEConv(8, 16), SAGEConv(16, 3), coo),
    "sage, CSR adjacency": (SAGEConv(8, 16), SAGEConv(16, 3), csr),
    "gin": (GINConv(mlp(8, 8)), GINConv(mlp(8, 3)), edges),
    "transformer": (TransformerConv(8, 8), TransformerConv(8, 3), edges),
    "cheb": (ChebConv(8, 8, 3), ChebConv(8, 3, 2), edges),
    "graph": (GraphConv(8, 8), GraphConv(8, 3), edges, weight),
    "arma": (ARMAConv(8, 8), ARMAConv(8, 3), edges),
    "edge": (EdgeConv(mlp(16, 8)), EdgeConv(mlp(16, 3)), edges),
    "rgcn": (RGCNConv(8, 8, 2), RGCNConv(8, 3, 2), edges, torch.arange(EDGES) % 2),
    "my own": (Furthest(8, 8), Furthest(8, 3), edges),
}
for name, (first, second, *graph) in NETS.items():
    net = Net(first, second)
    with torch.no_grad():
        for number, p in enumerate(net.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()) + number).reshape(p.shape) * 0.3)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(*graph), labels)
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
    print(name, losses)
small = edges[:, (edges < 12).all(0)]
batch = Batch.from_data_list([Data(x=x, edge_index=edges), Data(x=x[:12], edge_index=small)])
print(batch, batch.num_graphs, global_mean_pool(batch.x, batch.batch).sum(1), global_max_pool(batch.x, batch.batch).sum(1))
print(to_undirected(edges).shape, degree(edges[0], NODES), softmax(weight, edges[0])[:6])
print(scatter(x[edges[0]], edges[1], reduce="mean").sum(1)[:8])
