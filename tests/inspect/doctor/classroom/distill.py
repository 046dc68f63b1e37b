"""Distillation: a teacher is trained first, then a small student from its soft labels."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
W = torch.randn(20, 6)


def make(n):
    x = torch.randn(n, 20)
    return x, (x @ W).argmax(1)


Xtr, Ytr = make(512)
Xva, Yva = make(128)
teacher = nn.Sequential(nn.Linear(20, 96), nn.ReLU(), nn.Dropout(0.1), nn.Linear(96, 6))
student = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 6))


def accuracy(model):
    model.eval()
    with torch.no_grad():
        return (model(Xva).argmax(1) == Yva).float().mean().item()


opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
teacher.train()
for i in torch.randperm(512)[:256].split(32):
    loss = F.cross_entropy(teacher(Xtr[i]), Ytr[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("teacher", accuracy(teacher))
teacher.eval()
for p in teacher.parameters():
    p.requires_grad = False
T, alpha = 3.0, 0.7
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(2):
    student.train()
    for i in torch.randperm(512).split(32):
        z = student(Xtr[i])
        with torch.no_grad():
            soft = teacher(Xtr[i])
        kd = F.kl_div(F.log_softmax(z / T, dim=1), F.softmax(soft / T, dim=1), reduction="batchmean") * T * T
        loss = alpha * kd + (1 - alpha) * F.cross_entropy(z, Ytr[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, accuracy(student))
