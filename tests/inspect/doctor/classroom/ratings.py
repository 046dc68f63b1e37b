"""Stars by factors of users and films, without a Module: tensors, biases, a mean, weight decay by hand, RMSE."""

import numpy as np
import torch

rng = np.random.RandomState(5)
USERS, FILMS, K = 80, 60, 6
true_u, true_f = rng.randn(USERS, 3), rng.randn(FILMS, 3)
pairs = np.array([(u, f) for u in range(USERS) for f in range(FILMS) if rng.rand() < 0.5])
stars = 3.2 + 0.5 * (true_u[pairs[:, 0]] * true_f[pairs[:, 1]]).sum(1) + 0.3 * rng.randn(len(pairs))
shuffled = rng.permutation(len(pairs))
pairs, stars = torch.tensor(pairs[shuffled]), torch.tensor(stars[shuffled], dtype=torch.float32)
split = int(0.85 * len(pairs))
train_pairs, train_stars = pairs[:split], stars[:split]
test_pairs, test_stars = pairs[split:], stars[split:]
mean = train_stars.mean()

torch.manual_seed(5)
user_factors = (0.3 * torch.randn(USERS, K)).requires_grad_()
film_factors = (0.3 * torch.randn(FILMS, K)).requires_grad_()
user_bias = torch.zeros(USERS, requires_grad=True)
film_bias = torch.zeros(FILMS, requires_grad=True)
net = torch.nn.Sequential(torch.nn.Linear(2 * K, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))


def predict(pairs):
    u, f = pairs[:, 0], pairs[:, 1]
    dot = (user_factors[u] * film_factors[f]).sum(dim=1)
    deep = net(torch.cat([user_factors[u], film_factors[f]], dim=1)).squeeze(1)
    return mean + user_bias[u] + film_bias[f] + dot + deep


def rmse(pairs, stars):
    with torch.no_grad():
        return (predict(pairs) - stars).pow(2).mean().sqrt().item()


parameters = [user_factors, film_factors, user_bias, film_bias, *net.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
for epoch in range(3):
    for rows in torch.randperm(split).split(128):
        error = predict(train_pairs[rows]) - train_stars[rows]
        penalty = user_factors.pow(2).mean() + film_factors.pow(2).mean()
        loss = error.pow(2).mean() + 0.02 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{epoch}: train {rmse(train_pairs, train_stars):.3f} test {rmse(test_pairs, test_stars):.3f}")
