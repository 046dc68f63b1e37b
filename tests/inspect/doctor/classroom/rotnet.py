"""Pictures turned by 0, 90, 180 and 270 degrees: a net that tells by how much, and then a linear probe on what it has learnt."""

from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset

cfg = SimpleNamespace(epochs=3, probe_epochs=6, lr=2e-3, batch=32, n=640, n_val=120)
torch.manual_seed(41)


def make_letters(n, generator):
    """Four letters of strokes (L, T, F, P), 14 x 14, moved about."""
    kinds = torch.randint(0, 4, (n,), generator=generator)
    x = 0.15 * torch.randn(n, 1, 14, 14, generator=generator)
    for i, kind in enumerate(kinds.tolist()):
        top, left = torch.randint(0, 5, (2,), generator=generator).tolist()
        box = x[i, 0, top : top + 9, left : left + 7]
        if kind == 0:
            box[:, 0] += 1
            box[-1, :] += 1
        elif kind == 1:
            box[0, :] += 1
            box[:, 3] += 1
        elif kind == 2:
            box[:, 0] += 1
            box[0, :] += 1
            box[4, :4] += 1
        else:
            box[:, 0] += 1
            box[0, :5] += 1
            box[4, :5] += 1
            box[0:5, 5] += 1
    return (x - 0.15) / 0.4, kinds


class Letters(Dataset):
    def __init__(self, n, seed):
        self.images, self.labels = make_letters(n, torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Turned(Dataset):
    """Each picture turned by chance, with the number of quarter turns."""

    def __init__(self, base):
        self.base = base

    def __len__(self):
        return len(self.base)

    def __getitem__(self, index):
        image, _ = self.base[index]
        turns = int(torch.randint(0, 4, ()))
        return torch.rot90(image, turns, dims=(1, 2)), turns


class Encoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(2 * width * 9, 48)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = self.pool(F.relu(self.bn2(self.conv2(x))))
        return F.relu(self.fc(x.flatten(1)))


class Pretext(nn.Module):
    def __init__(self, encoder, turns=4):
        super().__init__()
        self.encoder, self.dropout, self.head = encoder, nn.Dropout(0.2), nn.Linear(48, turns)

    def forward(self, x):
        return self.head(self.dropout(self.encoder(x)))


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum = right = count = 0
    with torch.set_grad_enabled(training):
        for images, turns in loader:
            logits = model(images)
            loss = F.cross_entropy(logits, turns)
            if training:
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(turns)
            right += (logits.argmax(1) == turns).sum().item()
            count += len(turns)
    return loss_sum / count, right / count


letters, held_letters = Letters(cfg.n, 1), Letters(cfg.n_val, 2)
train_loader = DataLoader(Turned(letters), cfg.batch, shuffle=True)
val_loader = DataLoader(Turned(held_letters), 60)
encoder = Encoder()
model = Pretext(encoder)
optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epochs)
for epoch in range(cfg.epochs):
    train_loss, train_acc = run_epoch(model, train_loader, optimizer)
    scheduler.step()
    val_loss, val_acc = run_epoch(model, val_loader)
    print(f"pretext {epoch}: {train_loss:.3f} {train_acc:.3f} | {val_loss:.3f} {val_acc:.3f}")

# the probe: features are frozen, a few labels
encoder.eval()
for p in encoder.parameters():
    p.requires_grad_(False)
few = DataLoader(Subset(letters, range(128)), 32, shuffle=True)
probe = nn.Linear(48, 4)
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)
for _ in range(cfg.probe_epochs):
    for images, kinds in few:
        with torch.no_grad():
            features = encoder(images)
        probe_loss = F.cross_entropy(probe(features), kinds)
        probe_opt.zero_grad()
        probe_loss.backward()
        probe_opt.step()
with torch.no_grad():
    hits = sum((probe(encoder(images)).argmax(1) == kinds).sum().item() for images, kinds in DataLoader(held_letters, 60))
print("probe accuracy", hits / len(held_letters))
