import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SEGMENTS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def draw_digit(d):
    img = np.zeros((16, 12), dtype=np.float32)
    top, left = random.randint(0, 3), random.randint(0, 3)
    strokes = [(0, 0, 0, 6), (0, 0, 6, 0), (0, 6, 6, 6), (6, 0, 6, 6), (6, 0, 12, 0), (6, 6, 12, 6), (12, 0, 12, 6)]
    for on, (r0, c0, r1, c1) in zip(SEGMENTS[d], strokes):
        if on == "1":
            img[top + r0 : top + r1 + 1, left + c0 : left + c1 + 1] = 1.0
    return img + 0.2 * np.random.randn(16, 12).astype(np.float32)


def get_loaders(batch_size, n_train=1000, n_test=200):
    loaders = {}
    stats = None
    for name, n in (("train", n_train), ("test", n_test)):
        labels = np.random.randint(0, 10, n)
        images = torch.tensor(np.stack([draw_digit(d) for d in labels])).unsqueeze(1)
        if stats is None:
            stats = images.mean(), images.std()
        images = (images - stats[0]) / stats[1]
        dataset = TensorDataset(images, torch.tensor(labels))
        loaders[name] = DataLoader(dataset, batch_size=batch_size, shuffle=name == "train")
    return loaders


def distillation_loss(student_logits, teacher_logits, labels, T, alpha):
    soft = F.kl_div(F.log_softmax(student_logits / T, dim=1), F.softmax(teacher_logits / T, dim=1), reduction="batchmean") * T * T
    hard = F.cross_entropy(student_logits, labels)
    return alpha * soft + (1 - alpha) * hard


@torch.no_grad()
def accuracy(model, loader):
    was_training = model.training
    model.eval()
    correct = sum((model(x).argmax(dim=1) == y).sum().item() for x, y in loader)
    model.train(was_training)
    return correct / len(loader.dataset)
