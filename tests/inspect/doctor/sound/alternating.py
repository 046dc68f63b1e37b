"""Matrix factorization whose two sides take turns, each with its own optimizer; ratings are centred by their mean."""

import torch
from torch import nn

torch.manual_seed(11)
users, items, k = 60, 40, 4
truth = torch.randn(users, k) @ torch.randn(items, k).T + torch.randn(users, 1)
who, what = torch.randint(users, (2500,)), torch.randint(items, (2500,))
rating = truth[who, what] + 0.2 * torch.randn(2500) + 3
train, test = slice(0, 2000), slice(2000, 2500)
middle = rating[train].mean()
P, Q = nn.Embedding(users, k), nn.Embedding(items, k)
bias = nn.Embedding(users, 1)
for each in (P, Q):
    nn.init.normal_(each.weight, std=0.3)
nn.init.zeros_(bias.weight)
opt_p = torch.optim.Adam([*P.parameters(), *bias.parameters()], lr=0.03)
opt_q = torch.optim.Adam(Q.parameters(), lr=0.03)


def guess(who, what):
    return (P(who) * Q(what)).sum(-1) + bias(who).squeeze(-1) + middle


for epoch in range(6):
    for opt in (opt_p, opt_q):
        for rows in torch.randperm(2000).split(200):
            loss = (guess(who[rows], what[rows]) - rating[rows]).pow(2).mean()
            opt_p.zero_grad(), opt_q.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        error = (guess(who[test], what[test]) - rating[test]).pow(2).mean().sqrt()
    print(epoch, loss.item(), error.item())
