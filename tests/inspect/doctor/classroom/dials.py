"""What a dial shows and of which of five colours it is: one net, two heads, weights of the two losses that are learned."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(77)
COLOURS = torch.tensor([[1.0, 0.2, 0.2], [0.2, 1.0, 0.2], [0.2, 0.2, 1.0], [1.0, 1.0, 0.2], [0.9, 0.9, 0.9]])
MEAN, STD = torch.tensor([0.10, 0.10, 0.09]).view(3, 1, 1), torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
SIDE = 20


def draw(angle, colour):
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, SIDE), torch.linspace(-1, 1, SIDE), indexing="ij")
    along = xs * math.cos(angle) + ys * math.sin(angle)
    across = -xs * math.sin(angle) + ys * math.cos(angle)
    hand = ((along > 0) & (along < 0.9) & (across.abs() < 0.15)).float()
    picture = hand * COLOURS[colour].view(3, 1, 1)
    return (picture + 0.05 * torch.rand(3, SIDE, SIDE)).clamp(0, 1)


class Dials(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.angle = torch.rand(n, generator=g) * 2 * math.pi
        self.colour = torch.randint(5, (n,), generator=g)
        self.pictures = torch.stack([draw(a.item(), c) for a, c in zip(self.angle, self.colour, strict=True)])

    def __len__(self):
        return len(self.angle)

    def __getitem__(self, i):
        where = torch.stack([self.angle[i].cos(), self.angle[i].sin()])
        return (self.pictures[i] - MEAN) / STD, where, self.colour[i]


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 25, 64), nn.ReLU(),
        )  # fmt: skip
        self.where = nn.Linear(64, 2)
        self.colour = nn.Linear(64, 5)
        self.log_var = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.body(x)
        return self.where(h), self.colour(h)

    def loss(self, where, colour, true_where, true_colour):
        parts = torch.stack([F.smooth_l1_loss(where, true_where), F.cross_entropy(colour, true_colour)])
        return (parts * torch.exp(-self.log_var) + self.log_var / 2).sum(), parts.detach()


def train_one_epoch(net, loader, optimizer, scheduler):
    net.train()
    seen = torch.zeros(2)
    for x, where, colour in loader:
        optimizer.zero_grad(set_to_none=True)
        guess_where, guess_colour = net(x)
        loss, parts = net.loss(guess_where, guess_colour, where, colour)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        seen += parts
    return seen / len(loader)


@torch.no_grad()
def validate(net, loader):
    net.eval()
    off, right, n = 0.0, 0, 0
    for x, where, colour in loader:
        guess_where, guess_colour = net(x)
        cos = F.cosine_similarity(guess_where, where, dim=1).clamp(-1, 1)
        off += torch.rad2deg(cos.acos()).sum().item()
        right += (guess_colour.argmax(1) == colour).sum().item()
        n += len(x)
    return off / n, right / n


def main(epochs=3):
    train_set, val_set = Dials(480, 1), Dials(120, 2)
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=60)
    net = TwoHeads()
    decay = [p for p in net.parameters() if p.dim() > 1]
    plain = [p for p in net.parameters() if p.dim() <= 1]
    groups = [{"params": decay, "weight_decay": 1e-2}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=2e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=epochs * len(train_loader))
    for epoch in range(epochs):
        parts = train_one_epoch(net, train_loader, optimizer, scheduler)
        off, right = validate(net, val_loader)
        print(f"epoch {epoch}: losses {parts.tolist()}, {off:.1f} degrees off, colours {right:.2%}")


if __name__ == "__main__":
    main()
