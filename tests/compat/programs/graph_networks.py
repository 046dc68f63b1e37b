"""Graph networks over torch.sparse, in the three ways that public programs have: GCN, GAT with a product of its own, LightGCN."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
N, FEATURES, CLASSES = 40, 12, 4


def normalized_adjacency(edges, n):
    """D^-1/2 (A + I) D^-1/2 of an undirected graph, as a sparse tensor."""
    both = torch.cat([edges, edges.flip(0), torch.arange(n).repeat(2, 1)], 1)
    a = torch.sparse_coo_tensor(both, torch.ones(both.shape[1]), (n, n)).coalesce()
    at, values = a.indices(), torch.ones(a._nnz())
    degree = torch.sparse.sum(torch.sparse_coo_tensor(at, values, (n, n)), dim=1).to_dense()
    scale = degree.pow(-0.5)
    return torch.sparse_coo_tensor(at, values * scale[at[0]] * scale[at[1]], (n, n))


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        stdv = 1.0 / math.sqrt(outputs)
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        return torch.spmm(adj, torch.mm(input, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(FEATURES, 16), GraphConvolution(16, CLASSES)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.relu(self.gc1(x, adj)), adj), dim=1)


class SpecialSpmmFunction(torch.autograd.Function):
    """Special function for only sparse region backpropataion layer."""

    @staticmethod
    def forward(ctx, indices, values, shape, b):
        a = torch.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(a, b)
        ctx.N = shape[0]
        return torch.matmul(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_values = grad_b = None
        if ctx.needs_input_grad[1]:
            grad_a_dense = grad_output.matmul(b.t())
            edge_idx = a._indices()[0, :] * ctx.N + a._indices()[1, :]
            grad_values = grad_a_dense.view(-1)[edge_idx]
        if ctx.needs_input_grad[3]:
            grad_b = a.t().matmul(grad_output)
        return None, grad_values, None, grad_b


class SparseAttention(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.W, self.a = nn.Parameter(torch.zeros(inputs, outputs)), nn.Parameter(torch.zeros(1, 2 * outputs))
        nn.init.xavier_normal_(self.W.data, gain=1.414)
        nn.init.xavier_normal_(self.a.data, gain=1.414)

    def forward(self, x, adj):
        edge, n = adj.to_dense().nonzero().t(), x.shape[0]
        h = torch.mm(x, self.W)
        edge_e = torch.exp(-F.leaky_relu(self.a.mm(torch.cat((h[edge[0]], h[edge[1]]), dim=1).t()).squeeze(), 0.2))
        e_rowsum = SpecialSpmmFunction.apply(edge, edge_e, torch.Size([n, n]), torch.ones(n, 1))
        return F.elu(SpecialSpmmFunction.apply(edge, edge_e, torch.Size([n, n]), h).div(e_rowsum))


class SoftmaxAttention(nn.Module):
    """The same layer with torch.sparse.softmax in place of the division."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin, self.left, self.right = nn.Linear(inputs, outputs), nn.Linear(outputs, 1), nn.Linear(outputs, 1)

    def forward(self, x, adj):
        h, at = self.lin(x), adj.coalesce().indices()
        scores = F.leaky_relu(self.left(h)[at[0], 0] + self.right(h)[at[1], 0], 0.2)
        attention = torch.sparse.softmax(torch.sparse_coo_tensor(at, scores, adj.shape), dim=1)
        return torch.sparse.mm(attention, h)


class LightGCN(nn.Module):
    def __init__(self, users, items, graph, layers=2):
        super().__init__()
        self.users, self.items, self.graph, self.layers = users, items, graph, layers
        self.table = nn.Embedding(users + items, 8)
        nn.init.normal_(self.table.weight, std=0.1)

    def forward(self):
        out = [self.table.weight]
        for _ in range(self.layers):
            out.append(torch.sparse.mm(self.graph, out[-1]))
        return torch.split(torch.stack(out, dim=1).mean(dim=1), [self.users, self.items])


edges = torch.randint(0, N, (2, 100))
x, y, adj = torch.randn(N, FEATURES), torch.randint(0, CLASSES, (N,)), normalized_adjacency(edges, N)
print(adj.coalesce())
for name, model in (("gcn", GCN()), ("gat", SparseAttention(FEATURES, CLASSES)), ("softmax", SoftmaxAttention(FEATURES, CLASSES))):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, adj), y)
        loss.backward()
        optimizer.step()
        if epoch % 5 == 0:
            print(f"{name} epoch {epoch} loss {loss.item():.4f}")
    print(name, f"{model(x, adj.to_sparse_csr().to_sparse_coo()).argmax(1).float().mean().item():.4f}")

users, items = 15, 20
seen = torch.stack([torch.randint(0, users, (60,)), torch.randint(0, items, (60,)) + users])
model = LightGCN(users, items, normalized_adjacency(seen, users + items).to_sparse_csr())
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(10):
    u, v = model()
    positive = (u[seen[0]] * v[seen[1] - users]).sum(1)
    negative = (u[seen[0]] * v[torch.randint(0, items, (60,))]).sum(1)
    loss = F.softplus(negative - positive).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"lightgcn {loss.item():.4f}")

words, contexts = nn.Embedding(50, 6, sparse=True), nn.EmbeddingBag(50, 6, mode="mean", sparse=True)
tables = [*words.parameters(), *contexts.parameters()]
for optimizer in (torch.optim.SparseAdam(tables, lr=0.05), torch.optim.SGD(tables, lr=0.5), torch.optim.Adagrad(tables, lr=0.1)):
    for _ in range(5):
        centre, around = torch.randint(0, 50, (16,)), torch.randint(0, 50, (16, 4))
        loss = F.softplus(-(words(centre) * contexts(around)).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(type(optimizer).__name__, f"{loss.item():.4f}", words.weight.grad.is_sparse, words.weight.grad.coalesce()._nnz())
