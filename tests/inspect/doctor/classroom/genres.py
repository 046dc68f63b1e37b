"""Several genres for each film: one logit for each, a threshold, exact matches and F1 by hand."""

import torch
import torch.nn as nn

torch.manual_seed(12)
N, D, GENRES = 900, 24, 7
X = torch.randn(N, D)
Y = ((X @ torch.randn(D, GENRES)) / D**0.5 + 0.2 * torch.randn(N, GENRES) > 0.5).float()
X_train, Y_train, X_test, Y_test = X[:720], Y[:720], X[720:], Y[720:]


class MultiLabelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Dropout(0.15), nn.Linear(64, 32), nn.ReLU())
        self.classifier = nn.Linear(32, GENRES)

    def forward(self, x):
        return self.classifier(self.backbone(x))


net = MultiLabelNet()
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-2)
for epoch in range(3):
    net.train()
    for idx in torch.randperm(len(X_train)).split(45):
        opt.zero_grad()
        scores = net(X_train[idx])
        loss = bce(scores, Y_train[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        predicted = net(X_test).sigmoid() > 0.5
        truth = Y_test.bool()
        tp, fp, fn = (predicted & truth).sum(), (predicted & ~truth).sum(), (~predicted & truth).sum()
        exact = (predicted == truth).all(dim=1).float().mean()
    print(epoch, f"{loss.item():.3f}", f"f1 {(2 * tp / (2 * tp + fp + fn)).item():.3f}, exact {exact.item():.3f}")
