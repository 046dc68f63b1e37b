"""Flowers by a class with fit and predict, as sklearn has them: small batches, scaled columns, accuracy at the end."""

import numpy as np
import torch
import torch.nn as nn


class StandardScaler:
    def fit(self, X):
        self.mean_, self.std_ = X.mean(axis=0), X.std(axis=0)
        return self

    def transform(self, X):
        return (X - self.mean_) / self.std_


class MLPClassifier:
    def __init__(self, hidden=(16, 8), lr=0.02, epochs=15, batch_size=40, random_state=0):
        self.hidden, self.lr, self.epochs, self.batch_size = hidden, lr, epochs, batch_size
        torch.manual_seed(random_state)

    def _build(self, n_in, n_out):
        layers = []
        for width in self.hidden:
            layers += [nn.Linear(n_in, width), nn.ReLU()]
            n_in = width
        layers += [nn.Linear(n_in, n_out)]
        self.net = nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=self.lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, X, y):
        X, y = torch.from_numpy(X).float(), torch.from_numpy(y).long()
        self._build(X.shape[1], int(y.max()) + 1)
        self.loss_curve_ = []
        for epoch in range(self.epochs):
            perm = torch.randperm(len(X))
            total = 0.0
            for i in range(0, len(X), self.batch_size):
                idx = perm[i : i + self.batch_size]
                self.optimizer.zero_grad()
                out = self.net(X[idx])
                loss = self.criterion(out, y[idx])
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(idx)
            self.loss_curve_.append(total / len(X))
            if epoch % 5 == 0:
                print(f"Iteration {epoch}, loss = {self.loss_curve_[-1]:.4f}")
        return self

    def predict(self, X):
        with torch.no_grad():
            return self.net(torch.from_numpy(X).float()).argmax(dim=1).numpy()

    def score(self, X, y):
        return (self.predict(X) == y).mean()


rng = np.random.RandomState(0)
centers = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
y = rng.randint(0, 3, 300)
X = centers[y] + 0.35 * rng.randn(300, 4)
X_train, X_test, y_train, y_test = X[:240], X[240:], y[:240], y[240:]
scaler = StandardScaler().fit(X_train)
clf = MLPClassifier()
clf.fit(scaler.transform(X_train), y_train)
print(f"test accuracy: {clf.score(scaler.transform(X_test), y_test):.3f}")
