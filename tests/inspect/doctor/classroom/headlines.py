"""Four sections of a newspaper from headlines: a vocabulary, a collate function."""

import copy
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

SECTIONS = {
    "sport": "match goal team coach league final cup wins striker season".split(),
    "money": "bank market shares rate profit trade tax stocks deal loans".split(),
    "science": "study cells space planet gene climate virus atom probe ocean".split(),
    "culture": "film novel stage actor album museum singer prize opera poet".split(),
}
FILLER = "the a of new in after says over for as on with first again".split()


def write(rng, n):
    rows = []
    for _ in range(n):
        label = rng.integers(4)
        words = list(rng.choice(FILLER, rng.integers(2, 8)))
        for _ in range(rng.integers(1, 4)):
            words.insert(rng.integers(len(words) + 1), str(rng.choice(list(SECTIONS.values())[label])))
        rows.append((" ".join(words), int(label)))
    return rows


class Vocab:
    def __init__(self, texts):
        counts = Counter(w for text in texts for w in text.split())
        self.stoi = {"<pad>": 0, "<unk>": 1}
        for word, _ in counts.most_common():
            self.stoi[word] = len(self.stoi)

    def __len__(self):
        return len(self.stoi)

    def encode(self, text):
        return torch.tensor([self.stoi.get(w, 1) for w in text.split()])


class HeadlineNet(nn.Module):
    def __init__(self, vocab_size, emb=24, hidden=32, classes=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.score = nn.Linear(2 * hidden, 1)
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, ids, lengths):
        x = self.dropout(self.embedding(ids))
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        scores = self.score(states).squeeze(-1)
        scores = scores.masked_fill(ids == 0, float("-inf"))
        weights = F.softmax(scores, dim=1)
        pooled = (weights.unsqueeze(-1) * states).sum(dim=1)
        return self.fc(self.dropout(pooled))


def run():
    rng = np.random.default_rng(31)
    torch.manual_seed(31)
    train_rows, dev_rows, test_rows = write(rng, 640), write(rng, 160), write(rng, 160)
    vocab = Vocab(text for text, _ in train_rows)

    def collate(rows):
        ids = [vocab.encode(text) for text, _ in rows]
        lengths = torch.tensor([len(each) for each in ids])
        labels = torch.tensor([label for _, label in rows])
        return pad_sequence(ids, batch_first=True, padding_value=0), lengths, labels

    train_loader = DataLoader(train_rows, batch_size=32, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev_rows, batch_size=64, collate_fn=collate)
    test_loader = DataLoader(test_rows, batch_size=64, collate_fn=collate)

    model = HeadlineNet(len(vocab))
    loss_fn = nn.CrossEntropyLoss()
    optim = torch.optim.Adam(model.parameters(), lr=2e-3)

    def accuracy(loader):
        model.eval()
        right = total = 0
        with torch.no_grad():
            for ids, lengths, labels in loader:
                right += int((model(ids, lengths).argmax(dim=-1) == labels).sum())
                total += len(labels)
        return right / total

    best, best_weights, patience = 0.0, None, 2
    for _ in range(4):
        model.train()
        for ids, lengths, labels in train_loader:
            optim.zero_grad()
            loss = loss_fn(model(ids, lengths), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optim.step()
        dev = accuracy(dev_loader)
        if dev > best:
            best, best_weights, patience = dev, copy.deepcopy(model.state_dict()), 2
        else:
            patience -= 1
            if patience == 0:
                break
    model.load_state_dict(best_weights)
    print("dev", best, "test", accuracy(test_loader))


run()
