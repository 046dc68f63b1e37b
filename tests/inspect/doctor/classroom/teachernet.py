"""A large net teaches a small one: soft targets at a temperature, hard labels beside them, k folds over the students."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def rings(n, noise=0.15):
    y = torch.randint(0, 4, (n,))
    angle = 6.283 * torch.rand(n)
    radius = 0.6 + 0.6 * y + noise * torch.randn(n)
    x = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return torch.cat([x, 0.5 * torch.randn(n, 4)], 1), y


def mlp(*sizes, p=0.0):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(p)]
    return nn.Sequential(*layers[:-2])


class Distiller:
    def __init__(self, teacher, student, T=3.0, alpha=0.7):
        self.teacher, self.student, self.T, self.alpha = teacher, student, T, alpha
        self.opt = torch.optim.Adam(student.parameters(), lr=5e-3)

    def loss(self, x, y):
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.T, dim=1)
        out = self.student(x)
        kd = F.kl_div(F.log_softmax(out / self.T, dim=1), soft, reduction="batchmean") * self.T**2
        return self.alpha * kd + (1 - self.alpha) * F.cross_entropy(out, y)

    def fit(self, x, y, epochs=4, batch=40):
        self.teacher.eval()
        self.student.train()
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(batch):
                loss = self.loss(x[rows], y[rows])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        return loss.item()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def train_teacher(model, x, y, steps=9):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(steps):
        rows = torch.randint(0, len(x), (64,))
        loss = F.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model


def main():
    torch.manual_seed(21)
    x, y = rings(600)
    teacher = train_teacher(mlp(6, 96, 96, 4, p=0.2), x, y)
    print("teacher", accuracy(teacher, x, y))
    scores = []
    for k in range(3):
        held = torch.arange(600) % 3 == k
        student = mlp(6, 24, 4, p=0.05)
        Distiller(teacher, student).fit(x[~held], y[~held])
        scores.append(accuracy(student, x[held], y[held]))
    print("students", scores)


if __name__ == "__main__":
    main()
