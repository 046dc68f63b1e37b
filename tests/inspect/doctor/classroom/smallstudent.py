"""A large net learns a table first; a small one learns from its soft answers then. Arrays as scikit-learn gives them."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.RandomState(13)
torch.manual_seed(13)
N, D, K = 1200, 10, 5
centers = rng.randn(K, D) * 1.3
y = rng.randint(0, K, N)
X = (centers[y] + rng.randn(N, D)).astype(np.float32) * rng.uniform(0.5, 20, D).astype(np.float32)
X_train, X_test, y_train, y_test = X[:900], X[900:], y[:900], y[900:]
mean, std = X_train.mean(0), X_train.std(0)
X_train, X_test = (X_train - mean) / std, (X_test - mean) / std
X_train, X_test = torch.from_numpy(X_train), torch.from_numpy(X_test)
y_train, y_test = torch.from_numpy(y_train).long(), torch.from_numpy(y_test).long()


class MLP(nn.Module):
    def __init__(self, hidden, depth):
        super().__init__()
        sizes = [D] + [hidden] * depth
        self.hidden = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.norms = nn.ModuleList([nn.BatchNorm1d(hidden) for _ in range(depth)])
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, K)

    def forward(self, x):
        for i in range(len(self.hidden)):
            x = self.drop(F.relu(self.norms[i](self.hidden[i](x))))
        return self.out(x)


def batches(size=50):
    order = torch.randperm(len(X_train))
    for start in range(0, len(order), size):
        idx = order[start : start + size]
        yield X_train[idx], y_train[idx]


def accuracy(net):
    net.eval()
    with torch.no_grad():
        predictions = net(X_test).argmax(dim=1)
    net.train()
    return (predictions == y_test).float().mean().item()


# teacher
teacher = MLP(96, 3)
optimizer = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for epoch in range(4):
    for xb, yb in batches():
        optimizer.zero_grad()
        loss = F.cross_entropy(teacher(xb), yb)
        loss.backward()
        optimizer.step()
    print("teacher", epoch, accuracy(teacher))

# student
teacher.eval()
student = MLP(16, 1)
T, alpha = 3.0, 0.7
student_opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
for epoch in range(4):
    for xb, yb in batches():
        with torch.no_grad():
            soft = F.softmax(teacher(xb) / T, dim=1)
        logits = student(xb)
        kd = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T
        hard = F.cross_entropy(logits, yb)
        loss = alpha * kd + (1 - alpha) * hard
        student_opt.zero_grad()
        loss.backward()
        student_opt.step()
    print("student", epoch, accuracy(student))
