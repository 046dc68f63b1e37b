# Which two people will become friends? Graph convolution on a dense adjacency matrix, edges held out for the test.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 7
torch.manual_seed(SEED)
np.random.seed(SEED)

# ---- a graph of three circles of friends
n_nodes, n_feats = 90, 12
circle = np.random.randint(0, 3, n_nodes)
chance = np.where(circle[:, None] == circle[None, :], 0.25, 0.02)
upper = np.triu(np.random.rand(n_nodes, n_nodes) < chance, 1)
pairs = np.argwhere(upper)
np.random.shuffle(pairs)
n_test = len(pairs) // 5
test_pos, train_pos = pairs[:n_test], pairs[n_test:]
feats = np.random.randn(n_nodes, n_feats).astype(np.float32) + 0.7 * np.random.randn(3, n_feats)[circle].astype(np.float32)

A = np.zeros((n_nodes, n_nodes), dtype=np.float32)
A[train_pos[:, 0], train_pos[:, 1]] = 1
A = A + A.T + np.eye(n_nodes, dtype=np.float32)
deg = A.sum(1)
A_hat = torch.tensor(A / np.sqrt(deg[:, None] * deg[None, :]))
X = torch.tensor(feats)


def sample_negatives(k):
    found = []
    while len(found) < k:
        i, j = np.random.randint(0, n_nodes, 2)
        if i != j and not upper[min(i, j), max(i, j)]:
            found.append((i, j))
    return np.array(found)


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(d_out))

    def forward(self, h, adj):
        return adj @ self.lin(h) + self.bias


class Encoder(nn.Module):
    def __init__(self, d_in, d_hid=32, d_out=16):
        super().__init__()
        self.gc1 = GraphConv(d_in, d_hid)
        self.gc2 = GraphConv(d_hid, d_out)

    def forward(self, h, adj):
        h = F.relu(self.gc1(h, adj))
        h = F.dropout(h, p=0.2, training=self.training)
        return self.gc2(h, adj)


def decode(z, edges):
    edges = torch.as_tensor(edges)
    return (z[edges[:, 0]] * z[edges[:, 1]]).sum(dim=1)


def auc(pos, neg):
    return (pos[:, None] > neg[None, :]).float().mean().item()


encoder = Encoder(n_feats)
opt = torch.optim.Adam(encoder.parameters(), lr=0.01, weight_decay=5e-4)
test_neg = sample_negatives(n_test)
best_auc, best_z = 0.0, None

for epoch in range(60):
    encoder.train()
    opt.zero_grad()
    z = encoder(X, A_hat)
    neg_edges = sample_negatives(len(train_pos))
    logits = torch.cat([decode(z, train_pos), decode(z, neg_edges)])
    labels = torch.cat([torch.ones(len(train_pos)), torch.zeros(len(neg_edges))])
    loss = F.binary_cross_entropy_with_logits(logits, labels)
    loss.backward()
    opt.step()

    if (epoch + 1) % 5 == 0:
        encoder.eval()
        with torch.no_grad():
            z = encoder(X, A_hat)
            score = auc(decode(z, test_pos), decode(z, test_neg))
        if score > best_auc:
            best_auc, best_z = score, z.clone()
        print(f"Epoch {epoch + 1:03d} | loss {loss.item():.4f} | test AUC {score:.3f}")
