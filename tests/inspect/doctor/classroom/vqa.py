"""Questions about pictures: three coloured shapes, "what colour is the square", "is there a circle", a GRU and a small CNN."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

COLOURS = ["red", "green", "blue"]
SHAPES = ["square", "cross", "bar"]
WORDS = ["<pad>", "what", "colour", "is", "the", "there", "a", "where", "left", "right", *COLOURS, *SHAPES]
W2I = {w: i for i, w in enumerate(WORDS)}
ANSWERS = [*COLOURS, "yes", "no", "left", "right"]
A2I = {a: i for i, a in enumerate(ANSWERS)}


def draw(img, shape, colour, top, left):
    patch = np.zeros((6, 6), dtype=np.float32)
    if shape == "square":
        patch[1:5, 1:5] = 1
    elif shape == "cross":
        patch[2:4, :] = 1
        patch[:, 2:4] = 1
    else:
        patch[:, 2:4] = 1
    img[colour, top : top + 6, left : left + 6] += patch


class VQA(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            img = rng.normal(0, 0.1, (3, 16, 16)).astype(np.float32)
            chosen = rng.permutation(3)[:2]
            sides = rng.permutation(2)
            things = {}
            for shape, side in zip(chosen, sides):
                colour = int(rng.integers(3))
                draw(img, SHAPES[shape], colour, int(rng.integers(0, 10)), int(rng.integers(0, 3)) + 8 * int(side) - int(side))
                things[SHAPES[shape]] = (colour, int(side))
            kind = rng.integers(3)
            if kind == 0:
                shape = SHAPES[chosen[0]]
                q, a = ["what", "colour", "is", "the", shape], COLOURS[things[shape][0]]
            elif kind == 1:
                shape = SHAPES[int(rng.integers(3))]
                q, a = ["is", "there", "a", shape], "yes" if shape in things else "no"
            else:
                shape = SHAPES[chosen[0]]
                q, a = ["where", "is", "the", shape], "right" if things[shape][1] else "left"
            self.rows.append((img, [W2I[w] for w in q], A2I[a]))
        self.mean, self.std = 0.06, 0.25

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        img, q, a = self.rows[i]
        image = (torch.from_numpy(img) - self.mean) / self.std
        question = torch.zeros(6, dtype=torch.long)
        question[: len(q)] = torch.tensor(q)
        return image, question, len(q), a


class Answerer(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.embed = nn.Embedding(len(WORDS), 24, padding_idx=0)
        self.gru = nn.GRU(24, d, batch_first=True)
        self.to_film = nn.Linear(d, 2 * 32)
        self.query = nn.Linear(d, 32)
        self.classifier = nn.Sequential(nn.Linear(32 + d + 2, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, len(ANSWERS)))
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, 4), torch.linspace(-1, 1, 4), indexing="ij")
        self.register_buffer("coords", torch.stack([ys, xs], dim=-1).view(16, 2))

    def forward(self, image, question, lengths):
        _, h = self.gru(nn.utils.rnn.pack_padded_sequence(self.embed(question), lengths, batch_first=True, enforce_sorted=False))
        h = h[-1]
        feats = self.cnn(image)
        gamma, beta = self.to_film(h).chunk(2, dim=1)
        feats = F.relu(feats * (1 + gamma)[:, :, None, None] + beta[:, :, None, None])
        cells = feats.flatten(2).transpose(1, 2)
        scores = torch.einsum("bnd,bd->bn", cells, self.query(h)) / 32**0.5
        attn = F.softmax(scores, dim=1)
        seen = torch.einsum("bn,bnd->bd", attn, cells)
        place = attn @ self.coords
        return self.classifier(torch.cat([seen, h, place], dim=1))


def train_epoch(model, loader, criterion, optimizer, scheduler):
    model.train()
    total_loss, correct, seen = 0.0, 0, 0
    for image, question, lengths, answer in loader:
        optimizer.zero_grad()
        logits = model(image, question, lengths)
        loss = criterion(logits, answer)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        total_loss += loss.item() * len(answer)
        correct += (logits.argmax(dim=1) == answer).sum().item()
        seen += len(answer)
    return total_loss / seen, correct / seen


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total_loss, correct, seen = 0.0, 0, 0
    for image, question, lengths, answer in loader:
        logits = model(image, question, lengths)
        total_loss += criterion(logits, answer).item() * len(answer)
        correct += (logits.argmax(dim=1) == answer).sum().item()
        seen += len(answer)
    return total_loss / seen, correct / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    torch.manual_seed(12)
    train_set, val_set = VQA(640, seed=1), VQA(160, seed=2)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=80)
    model = Answerer()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 6))
    best = 0.0
    for epoch in range(args.epochs):
        train_loss, train_acc = train_epoch(model, train_loader, criterion, optimizer, scheduler)
        val_loss, val_acc = evaluate(model, val_loader, criterion)
        print(f"{epoch}: train {train_loss:.3f} {train_acc:.3f}, val {val_loss:.3f} {val_acc:.3f}")
        if val_acc > best:
            best = val_acc
            torch.save(model.state_dict(), "best.pt")


if __name__ == "__main__":
    main()
