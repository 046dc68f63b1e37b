# Promoter or not? DNA of 60 letters, one-hot, a CNN followed by an LSTM.
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

BASES = "ACGT"


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=1600)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--bs", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--wd", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def random_sequence(n=60):
    return [random.choice(BASES) for _ in range(n)]


def plant(seq, motif, at):
    for i, base in enumerate(motif):
        if random.random() > 0.15:
            seq[at + i] = base


def make_example():
    label = int(random.random() < 0.4)
    seq = random_sequence()
    if label:  # two boxes, 17 letters apart
        at = random.randint(2, 28)
        plant(seq, "TTGACA", at)
        plant(seq, "TATAAT", at + 6 + 17)
    elif random.random() < 0.5:  # only one of both
        plant(seq, random.choice(["TTGACA", "TATAAT"]), random.randint(2, 50))
    return "".join(seq), label


def one_hot(seq):
    x = np.zeros((4, len(seq)), dtype=np.float32)
    for i, base in enumerate(seq):
        x[BASES.index(base), i] = 1.0
    return x


class PromoterNet(nn.Module):
    def __init__(self, channels=24, hidden=24):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(4, channels, 6, padding=3), nn.BatchNorm1d(channels), nn.ReLU(), nn.Dropout(0.1))
        self.lstm = nn.LSTM(channels, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.Linear(4 * hidden, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        z = self.conv(x).transpose(1, 2)
        states, _ = self.lstm(z)
        pooled = torch.cat([states.max(dim=1).values, states.mean(dim=1)], dim=1)
        return self.out(pooled).squeeze(-1)


def roc_auc(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def run():
    args = get_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    examples = [make_example() for _ in range(args.n)]
    X = torch.tensor(np.stack([one_hot(seq) for seq, _ in examples]))
    y = torch.tensor([label for _, label in examples], dtype=torch.float32)
    n_test = args.n // 5
    train_ds, test_ds = random_split(TensorDataset(X, y), [args.n - n_test, n_test])
    train_dl = DataLoader(train_ds, batch_size=args.bs, shuffle=True)
    test_dl = DataLoader(test_ds, batch_size=2 * args.bs)

    net = PromoterNet()
    n_pos = sum(label for _, label in examples)
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor((args.n - n_pos) / n_pos))
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=args.wd)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.lr, epochs=args.epochs, steps_per_epoch=len(train_dl))
    for epoch in range(args.epochs):
        net.train()
        seen, total_loss = 0, 0.0
        for xb, yb in train_dl:
            if random.random() < 0.5:  # the other strand
                xb = xb.flip(1, 2)
            logits = net(xb)
            loss = loss_fn(logits, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total_loss += loss.item() * len(yb)
            seen += len(yb)

        net.eval()
        scores, labels = [], []
        with torch.no_grad():
            for xb, yb in test_dl:
                p = torch.sigmoid((net(xb) + net(xb.flip(1, 2))) / 2)
                scores.append(p.numpy())
                labels.append(yb.numpy())
        scores, labels = np.concatenate(scores), np.concatenate(labels)
        guess = scores > 0.5
        acc = (guess == (labels == 1)).mean()
        mcc = np.corrcoef(guess, labels)[0, 1]
        print(f"epoch {epoch} loss {total_loss / seen:.4f} acc {acc:.3f} auc {roc_auc(scores, labels):.3f} mcc {mcc:.3f}")


if __name__ == "__main__":
    run()
