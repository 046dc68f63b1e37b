"""Learning to rank: pairs of documents of one query, a margin between the better and the worse, order checked on held queries."""

import torch
import torch.nn as nn

torch.manual_seed(55)
QUERIES, DOCS, F_ = 120, 8, 10
features = torch.randn(QUERIES, DOCS, F_)
truth = features @ torch.randn(F_) + 0.2 * torch.randn(QUERIES, DOCS)
train_x, train_y, held_x, held_y = features[:100], truth[:100], features[100:], truth[100:]


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(F_, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


scorer = Scorer()
criterion = nn.MarginRankingLoss(margin=0.5)
optimizer = torch.optim.Adam(scorer.parameters(), lr=3e-3)
for step in range(60):
    scorer.train()
    q = torch.randint(100, (48,))
    i, j = torch.randint(DOCS, (48,)), torch.randint(DOCS, (48,))
    sign = torch.sign(train_y[q, i] - train_y[q, j])
    loss = criterion(scorer(train_x[q, i]), scorer(train_x[q, j]), sign)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        scorer.eval()
        with torch.no_grad():
            best = scorer(held_x).argmax(dim=1)
        print(step, loss.item(), (best == held_y.argmax(dim=1)).float().mean().item())
