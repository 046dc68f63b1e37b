"""Knowledge distillation on tiny sketches: a wide teacher first, then a student that learns from its soft answers."""

from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

args = SimpleNamespace(teacher_epochs=4, student_epochs=6, bs=40, lr=2e-3, T=3.0, alpha=0.7, n_train=1000, n_test=400, seed=21)
torch.manual_seed(args.seed)


def sketch(kind, g):
    """A 14 x 14 drawing with thick noisy lines: square, triangle, cross, circle or two dots."""
    yy, xx = torch.meshgrid(torch.arange(14.0), torch.arange(14.0), indexing="ij")
    cy, cx = (5.5 + 3 * torch.rand(2, generator=g)).tolist()
    r = 3 + 1.5 * torch.rand((), generator=g).item()
    dy, dx = yy - cy, xx - cx
    if kind == 0:
        d = torch.maximum(dy.abs(), dx.abs()) - r
    elif kind == 1:
        d = torch.maximum(dy - r * 0.6, dx.abs() + 0.6 * dy - r * 0.5)
    elif kind == 2:
        d = torch.minimum(dy.abs(), dx.abs()) + 0.3
    elif kind == 3:
        d = (dy**2 + dx**2).sqrt() - r
    else:
        d = torch.minimum((dy**2 + (dx - 3) ** 2).sqrt(), (dy**2 + (dx + 3) ** 2).sqrt()) - 0.8
    return torch.exp(-(d**2)) + 0.35 * torch.randn(14, 14, generator=g)


def make_set(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 5, (n,), generator=g)
    images = torch.stack([sketch(k, g) for k in labels.tolist()]).unsqueeze(1)
    return images, labels


def cnn(width, drop):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(3),
        nn.Flatten(),
        nn.Dropout(drop),
        nn.Linear(2 * width * 9, 5),
    )


def batches(x, y, bs):
    order = torch.randperm(len(x))
    for chunk in order.split(bs):
        yield x[chunk], y[chunk]


def accuracy(net, x, y):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        hits = (net(x).argmax(1) == y).sum().item()
    net.train(was_training)
    return 100.0 * hits / len(y)


def train_teacher(net, x, y):
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.teacher_epochs):
        for xb, yb in batches(x, y, args.bs):
            loss = F.cross_entropy(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"teacher epoch {epoch}: loss {loss.item():.3f}, train acc {accuracy(net, x, y):.1f}%")


def kd_loss(student_logits, teacher_logits, labels, T, alpha):
    soft = F.kl_div(F.log_softmax(student_logits / T, dim=1), F.softmax(teacher_logits / T, dim=1), reduction="batchmean")
    hard = F.cross_entropy(student_logits, labels)
    return alpha * T * T * soft + (1 - alpha) * hard


def train_student(student, teacher, x, y):
    teacher.eval()
    opt = torch.optim.Adam(student.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.4)
    history = []
    for epoch in range(args.student_epochs):
        student.train()
        running, seen = 0.0, 0
        for xb, yb in batches(x, y, args.bs):
            with torch.no_grad():
                t_logits = teacher(xb)
            s_logits = student(xb)
            loss = kd_loss(s_logits, t_logits, yb, args.T, args.alpha)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(xb)
            seen += len(xb)
        sched.step()
        history.append(running / seen)
        print(f"student epoch {epoch}: loss {history[-1]:.3f}, test acc {accuracy(student, x_test, y_test):.1f}%")
    return history


x_train, y_train = make_set(args.n_train, 1)
x_test, y_test = make_set(args.n_test, 2)
mean, std = x_train.mean(), x_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

teacher = cnn(24, 0.3)
student = cnn(6, 0.1)
train_teacher(teacher, x_train, y_train)
print(f"teacher test acc {accuracy(teacher, x_test, y_test):.1f}%")
train_student(student, teacher, x_train, y_train)
small, large = (sum(p.numel() for p in net.parameters()) for net in (student, teacher))
print(f"student parameters: {small}, of the teacher: {large}")
