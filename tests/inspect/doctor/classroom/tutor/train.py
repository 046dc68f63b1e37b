"""Knowledge distillation: a wide teacher learns to read drawn digits, then teaches a narrow student with soft and hard targets."""

import torch
from models import make_student, make_teacher
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import OneCycleLR
from utils import accuracy, distillation_loss, get_loaders, seed_everything

CONFIG = dict(seed=9, teacher_epochs=2, student_epochs=3, temperature=3.0, alpha=0.7, batch_size=40)


def train_teacher(model, loaders):
    optimizer = Adam(model.parameters(), lr=2e-3)
    for epoch in range(CONFIG["teacher_epochs"]):
        model.train()
        for x, y in loaders["train"]:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"teacher {epoch}: {loss.item():.3f}, test accuracy {accuracy(model, loaders['test']):.3f}")


def train_student(student, teacher, loaders):
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad = False
    steps = CONFIG["student_epochs"] * len(loaders["train"])
    optimizer = SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)
    for epoch in range(CONFIG["student_epochs"]):
        student.train()
        for x, y in loaders["train"]:
            with torch.no_grad():
                teacher_logits = teacher(x)
            student_logits = student(x)
            loss = distillation_loss(student_logits, teacher_logits, y, CONFIG["temperature"], CONFIG["alpha"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        print(f"student {epoch}: {loss.item():.3f}, test accuracy {accuracy(student, loaders['test']):.3f}")


if __name__ == "__main__":
    seed_everything(CONFIG["seed"])
    loaders = get_loaders(CONFIG["batch_size"])
    teacher, student = make_teacher(), make_student()
    train_teacher(teacher, loaders)
    train_student(student, teacher, loaders)
