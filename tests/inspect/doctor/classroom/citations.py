"""Topics of papers in a citation graph: two graph convolutions by a normalised adjacency, masks for training and tests."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
N, TOPICS, WORDS = 400, 4, 50


def make_graph():
    topic = torch.randint(0, TOPICS, (N,))
    same = topic[:, None] == topic[None, :]
    prob = torch.where(same, torch.tensor(0.025), torch.tensor(0.003))
    upper = torch.triu(torch.rand(N, N) < prob, diagonal=1)
    edges = upper.nonzero().t()
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    profile = torch.rand(TOPICS, WORDS) ** 4
    x = (torch.rand(N, WORDS) < 0.15 * profile[topic] / profile.mean()).float()
    return x, edges, topic


def normalized_adjacency(edges, n):
    A = torch.zeros(n, n)
    A[edges[0], edges[1]] = 1.0
    A = A + torch.eye(n)
    d = A.sum(dim=1).pow(-0.5)
    return d[:, None] * A * d[None, :]


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return adj @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, n_in, hidden, n_out, dropout=0.5):
        super().__init__()
        self.gc1 = GraphConv(n_in, hidden)
        self.gc2 = GraphConv(hidden, hidden)
        self.out = GraphConv(hidden, n_out)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.dropout(x, self.dropout, training=self.training)
        h = F.relu(self.gc1(x, adj))
        h = F.dropout(h, self.dropout, training=self.training)
        h = h + F.relu(self.gc2(h, adj))
        return F.log_softmax(self.out(h, adj), dim=1)


x, edges, y = make_graph()
x = x / x.sum(dim=1, keepdim=True).clamp(min=1)
adj = normalized_adjacency(edges, N)
order = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
val_mask, test_mask = train_mask.clone(), train_mask.clone()
train_mask[order[:120]] = True
val_mask[order[120:220]] = True
test_mask[order[220:]] = True

model = GCN(WORDS, 32, TOPICS)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    model.train()
    optimizer.zero_grad()
    out = model(x, adj)
    loss = F.nll_loss(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    model.eval()
    pred = model(x, adj).argmax(dim=1)
    return [((pred[m] == y[m]).sum() / m.sum()).item() for m in (train_mask, val_mask, test_mask)]


best_val = best_test = 0.0
for epoch in range(1, 81):
    loss = train()
    train_acc, val_acc, test_acc = test()
    if val_acc > best_val:
        best_val, best_test = val_acc, test_acc
    if epoch % 20 == 0:
        print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Train: {train_acc:.4f}, Val: {val_acc:.4f}, Test: {test_acc:.4f}")
print("best", best_val, best_test)
