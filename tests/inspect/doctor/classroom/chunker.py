"""Phrases in sentences, tagged by a bidirectional LSTM: packed sequences, a collate function, words dropped to the unknown one."""

import random

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
random.seed(0)

NOUNS = "dog cat river teacher garden window letter storm".split()
VERBS = "sees likes paints crosses finds opens".split()
ADJS = "old green quiet tall heavy".split()
PREPS = "in near behind under".split()
TAGS = ["O", "B-NP", "I-NP", "B-VP", "B-PP"]
TAG2ID = {t: i for i, t in enumerate(TAGS)}
PAD_TAG = -100


def noun_phrase():
    words, tags = [random.choice(["the", "a", "my"])], ["B-NP"]
    for _ in range(random.randint(0, 2)):
        words.append(random.choice(ADJS))
        tags.append("I-NP")
    return words + [random.choice(NOUNS)], tags + ["I-NP"]


def sentence():
    words, tags = noun_phrase()
    words.append(random.choice(VERBS))
    tags.append("B-VP")
    w, t = noun_phrase()
    words, tags = words + w, tags + t
    while random.random() < 0.4:
        w, t = noun_phrase()
        words, tags = words + [random.choice(PREPS)] + w, tags + ["B-PP"] + t
    return words + ["."], tags + ["O"]


class ChunkData(Dataset):
    def __init__(self, n, vocab=None):
        self.rows = [sentence() for _ in range(n)]
        if vocab is None:
            vocab = {"<pad>": 0, "<unk>": 1}
            for words, _ in self.rows:
                for w in words:
                    vocab.setdefault(w, len(vocab))
        self.vocab = vocab

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, tags = self.rows[i]
        return torch.tensor([self.vocab.get(w, 1) for w in words]), torch.tensor([TAG2ID[t] for t in tags])


def collate(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    words, tags = zip(*batch)
    lengths = torch.tensor([len(w) for w in words])
    words = pad_sequence(words, batch_first=True, padding_value=0)
    tags = pad_sequence(tags, batch_first=True, padding_value=PAD_TAG)
    return words, tags, lengths


class Tagger(nn.Module):
    def __init__(self, vocab_size, emb=24, hidden=32, n_tags=5):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.dropout = nn.Dropout(0.3)
        self.lstm = nn.LSTM(emb, hidden, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.fc = nn.Linear(2 * hidden, n_tags)

    def forward(self, words, lengths):
        x = self.dropout(self.embedding(words))
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        out, _ = self.lstm(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(self.dropout(out))


def word_dropout(words, p=0.05):
    drop = (torch.rand(words.shape) < p) & (words != 0)
    return words.masked_fill(drop, 1)


def accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for words, tags, lengths in loader:
            pred = model(words, lengths).argmax(dim=-1)
            mask = tags != PAD_TAG
            right += (pred[mask] == tags[mask]).sum().item()
            total += mask.sum().item()
    return right / total


train_set = ChunkData(800)
dev_set = ChunkData(160, train_set.vocab)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
dev_loader = DataLoader(dev_set, batch_size=64, collate_fn=collate)
model = Tagger(len(train_set.vocab))
optimizer = optim.Adam(model.parameters(), lr=5e-3)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)

for epoch in range(3):
    model.train()
    running = 0.0
    for words, tags, lengths in train_loader:
        optimizer.zero_grad()
        logits = model(word_dropout(words), lengths)
        loss = F.cross_entropy(logits.view(-1, len(TAGS)), tags.view(-1), ignore_index=PAD_TAG)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        running += loss.item()
    scheduler.step()
    print(f"Epoch {epoch + 1}: loss {running / len(train_loader):.4f}, dev accuracy {accuracy(model, dev_loader):.3f}")
