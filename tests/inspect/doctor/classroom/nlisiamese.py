"""Natural language inference with a shared sentence encoder (InferSent style)."""

import argparse
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

LABELS = ["entailment", "neutral", "contradiction"]
PEOPLE = ["man", "woman", "boy", "girl", "dog", "child"]
ACTIONS = {"sleeps": "rests", "runs": "moves", "sings": "performs", "eats": "dines", "jumps": "hops", "reads": "studies"}
PLACES = ["park", "street", "kitchen", "garden", "school", "station"]
EXTRA = ["happily", "quietly", "today", "alone", "again"]


def make_pair(rng):
    who, act, where = rng.choice(PEOPLE), rng.choice(list(ACTIONS)), rng.choice(PLACES)
    premise = f"a {who} {act} in the {where}".split()
    label = rng.randrange(3)
    if label == 0:
        hypothesis = f"a {who} {rng.choice([act, ACTIONS[act]])}".split()
        if rng.random() < 0.5:
            hypothesis += f"in the {where}".split()
    elif label == 1:
        hypothesis = f"a {who} {act} {rng.choice(EXTRA)}".split()
    else:
        other = rng.choice([a for a in ACTIONS if a != act])
        hypothesis = f"a {who} {rng.choice([other, 'does not ' + act])} in the {where}".split()
    return premise, hypothesis, label


def build_vocab(data):
    vocab = {"<pad>": 0, "<unk>": 1}
    for premise, hypothesis, _ in data:
        for word in premise + hypothesis:
            vocab.setdefault(word, len(vocab))
    return vocab


class Collate:
    def __init__(self, vocab):
        self.vocab = vocab

    def ids(self, sentences):
        rows = [torch.tensor([self.vocab.get(w, 1) for w in s]) for s in sentences]
        lengths = torch.tensor([len(r) for r in rows])
        return pad_sequence(rows, batch_first=True), lengths

    def __call__(self, batch):
        premises, hypotheses, labels = zip(*batch)
        return (*self.ids(premises), *self.ids(hypotheses), torch.tensor(labels))


class SentenceEncoder(nn.Module):
    def __init__(self, vocab_size, emb_dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb_dim, padding_idx=0)
        self.lstm = nn.LSTM(emb_dim, hidden, batch_first=True, bidirectional=True)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return torch.cat([h[0], h[1]], dim=-1)


class NLINet(nn.Module):
    def __init__(self, vocab_size, args):
        super().__init__()
        self.encoder = SentenceEncoder(vocab_size, args.emb_dim, args.hidden)
        self.classifier = nn.Sequential(
            nn.Dropout(args.dropout),
            nn.Linear(args.hidden * 8, 64),
            nn.ReLU(),
            nn.Dropout(args.dropout),
            nn.Linear(64, len(LABELS)),
        )

    def forward(self, p, p_len, h, h_len):
        u, v = self.encoder(p, p_len), self.encoder(h, h_len)
        features = torch.cat([u, v, torch.abs(u - v), u * v], dim=1)
        return self.classifier(features)


def accuracy(model, loader):
    model.eval()
    hits = torch.zeros(3)
    seen = torch.zeros(3)
    with torch.no_grad():
        for *inputs, y in loader:
            pred = model(*inputs).max(1)[1]
            for c in range(3):
                hits[c] += (pred[y == c] == c).sum()
                seen[c] += (y == c).sum()
    model.train()
    return (hits.sum() / seen.sum()).item(), (hits / seen).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emb-dim", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)

    data = [make_pair(rng) for _ in range(1400)]
    train_set, dev_set = data[:1200], data[1200:]
    vocab = build_vocab(train_set)
    collate = Collate(vocab)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev_set, 100, collate_fn=collate)

    model = NLINet(len(vocab), args)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for p, p_len, h, h_len, y in train_loader:
            loss = criterion(model(p, p_len, h, h_len), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        acc, per_class = accuracy(model, dev_loader)
        best = max(best, acc)
        shown = " ".join(f"{name}={a:.2f}" for name, a in zip(LABELS, per_class))
        print(f"epoch {epoch}: loss {total / len(train_set):.4f} dev acc {acc:.4f} ({shown})")
    print("best dev accuracy", best)


if __name__ == "__main__":
    main()
