"""A mean teacher: few labels, many without; the teacher is an average of the student, and a consistency cost ramps up."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
CENTERS = torch.randn(4, 10) * 1.5


def draw(n):
    y = torch.randint(4, (n,))
    return CENTERS[y] + torch.randn(n, 10), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.drop = nn.Linear(10, 48), nn.Linear(48, 48), nn.Linear(48, 4), nn.Dropout(0.2)

    def forward(self, x):
        return self.c(self.drop(F.relu(self.b(F.relu(self.a(x))))))


student, teacher = Net(), Net()
teacher.load_state_dict(student.state_dict())
for p in teacher.parameters():
    p.requires_grad_(False)
labelled, labels = draw(160)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)


def noisy(x):
    return x + 0.2 * torch.randn_like(x)


def update_teacher(step):
    alpha = min(1 - 1 / (step + 1), 0.95)
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(alpha).add_(s, alpha=1 - alpha)


for step in range(60):
    student.train()
    rows = torch.randint(0, 160, (24,))
    x, y = labelled[rows], labels[rows]
    u, _ = draw(48)
    class_loss = F.cross_entropy(student(noisy(x)), y)
    with torch.no_grad():
        wanted = F.softmax(teacher(noisy(u)), dim=1)
    consistency = F.mse_loss(F.softmax(student(noisy(u)), dim=1), wanted)
    weight = 5.0 * math.exp(-5 * (1 - min(1.0, step / 30)) ** 2)
    loss = class_loss + weight * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_teacher(step)
    if step % 15 == 14:
        teacher.eval()
        with torch.no_grad():
            x, y = draw(200)
            accuracy = (teacher(x).argmax(1) == y).float().mean().item()
        teacher.train()
        print(step, class_loss.item(), accuracy)
