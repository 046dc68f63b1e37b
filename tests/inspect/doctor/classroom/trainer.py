"""A Trainer class, a small CNN, early stopping and the best weights kept."""

import copy

import torch
from torch import nn, optim


class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(16 * 9, classes)

    def forward(self, x):
        x = self.features(x)
        return self.fc(x.view(x.size(0), -1))


class Trainer:
    def __init__(self, model, data, patience=3):
        self.model, self.data, self.patience = model, data, patience
        self.opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        self.sched = optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=8)
        self.loss_fn = nn.CrossEntropyLoss()
        self.best, self.best_state = float("inf"), None

    def step(self, x, y):
        self.opt.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        x, y = self.data["val"]
        return self.loss_fn(self.model(x), y).item()

    def fit(self, epochs=8):
        bad = 0
        x, y = self.data["train"]
        for epoch in range(epochs):
            self.model.train()
            order = torch.randperm(len(x))
            losses = [self.step(x[i], y[i]) for i in order.split(24)]
            val = self.validate()
            self.sched.step()
            print(f"{epoch} {sum(losses) / len(losses):.3f} {val:.3f}")
            if val < self.best:
                self.best, self.best_state, bad = val, copy.deepcopy(self.model.state_dict()), 0
            else:
                bad += 1
                if bad >= self.patience:
                    break
        self.model.load_state_dict(self.best_state)


def pictures(n):
    y = torch.randint(0, 4, (n,))
    x = torch.randn(n, 1, 12, 12) * 0.5
    for i in range(n):
        x[i, 0, (y[i] // 2) * 6 : (y[i] // 2) * 6 + 6, (y[i] % 2) * 6 : (y[i] % 2) * 6 + 6] += 1
    return x, y


if __name__ == "__main__":
    torch.manual_seed(2)
    Trainer(Net(), {"train": pictures(192), "val": pictures(48)}).fit()
