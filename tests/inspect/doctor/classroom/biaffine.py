"""Dependency parsing of small sentences: a BiLSTM, biaffine scores of heads, labels of arcs; unlabelled and labelled accuracy."""

import random
from typing import NamedTuple

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pad_sequence

random.seed(21)
torch.manual_seed(21)
PAD, ROOT = 0, 1
NOUNS, VERBS, ADJS, DETS, ADVS = range(2, 14), range(14, 22), range(22, 30), range(30, 33), range(33, 38)
VOCAB, LABELS = 38, ["root", "subj", "obj", "det", "mod", "adv"]


class Sentence(NamedTuple):
    words: list
    heads: list
    labels: list


def phrase(words, heads, labels, head_of, role):
    """det? adj* noun; the noun depends on head_of (filled in later where None)."""
    first = len(words)
    n_adj = random.choice([0, 0, 1, 2])
    has_det = random.random() < 0.7
    noun = first + int(has_det) + n_adj
    if has_det:
        words.append(random.choice(DETS))
        heads.append(noun)
        labels.append("det")
    for _ in range(n_adj):
        words.append(random.choice(ADJS))
        heads.append(noun)
        labels.append("mod")
    words.append(random.choice(NOUNS))
    heads.append(head_of)
    labels.append(role)
    return noun


def sentence():
    words, heads, labels = [ROOT], [0], ["root"]
    subject = phrase(words, heads, labels, None, "subj")
    verb = len(words)
    heads[subject] = verb
    words.append(random.choice(VERBS))
    heads.append(0)
    labels.append("root")
    if random.random() < 0.7:
        phrase(words, heads, labels, verb, "obj")
    if random.random() < 0.4:
        words.append(random.choice(ADVS))
        heads.append(verb)
        labels.append("adv")
    return Sentence(words, heads, [LABELS.index(name) for name in labels])


def collate(batch):
    words = pad_sequence([torch.tensor(s.words) for s in batch], batch_first=True, padding_value=PAD)
    heads = pad_sequence([torch.tensor(s.heads) for s in batch], batch_first=True, padding_value=-100)
    labels = pad_sequence([torch.tensor(s.labels) for s in batch], batch_first=True, padding_value=-100)
    heads[:, 0] = -100  # the root has no head
    labels[:, 0] = -100
    return words, heads, labels


def batches(data, size, shuffle=False):
    idx = list(range(len(data)))
    if shuffle:
        random.shuffle(idx)
    for i in range(0, len(idx), size):
        yield collate([data[j] for j in idx[i : i + size]])


class Biaffine(nn.Module):
    def __init__(self, d, out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out, d + 1, d + 1))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, y):
        x = torch.cat([x, torch.ones_like(x[..., :1])], -1)
        y = torch.cat([y, torch.ones_like(y[..., :1])], -1)
        return torch.einsum("bxi,oij,byj->boxy", x, self.weight, y)


class Parser(nn.Module):
    def __init__(self, emb=24, hid=32, arc=32, rel=16, p=0.1):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.lstm = nn.LSTM(emb, hid, batch_first=True, bidirectional=True)
        self.arc_dep = nn.Sequential(nn.Linear(2 * hid, arc), nn.LeakyReLU(0.1))
        self.arc_head = nn.Sequential(nn.Linear(2 * hid, arc), nn.LeakyReLU(0.1))
        self.rel_dep = nn.Sequential(nn.Linear(2 * hid, rel), nn.LeakyReLU(0.1))
        self.rel_head = nn.Sequential(nn.Linear(2 * hid, rel), nn.LeakyReLU(0.1))
        self.arc, self.rel = Biaffine(arc, 1), Biaffine(rel, len(LABELS))
        self.dropout = nn.Dropout(p)

    def forward(self, words):
        mask = words != PAD
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(words), mask.sum(1), batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        h = self.dropout(h)
        arcs = self.arc(self.arc_dep(h), self.arc_head(h)).squeeze(1)
        arcs = arcs.masked_fill(~mask.unsqueeze(1), -1e9)
        rels = self.rel(self.rel_dep(h), self.rel_head(h)).permute(0, 2, 3, 1)
        return arcs, rels  # (B, T, T), (B, T, T, labels)


def pick(rels, heads):
    index = heads.clamp(min=0)[:, :, None, None].expand(-1, -1, 1, rels.size(-1))
    return rels.gather(2, index).squeeze(2)


train_data, dev_data = [sentence() for _ in range(800)], [sentence() for _ in range(150)]
parser = Parser()
optimizer = optim.Adam(parser.parameters(), lr=4e-3, betas=(0.9, 0.9))
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
criterion = nn.CrossEntropyLoss(ignore_index=-100)


def run_dev():
    parser.eval()
    uas = las = total = 0
    with torch.no_grad():
        for words, heads, labels in batches(dev_data, 50):
            arcs, rels = parser(words)
            guess = arcs.argmax(-1)
            label_guess = pick(rels, guess).argmax(-1)
            real = heads != -100
            good = (guess == heads) & real
            uas += good.sum().item()
            las += (good & (label_guess == labels)).sum().item()
            total += real.sum().item()
    return uas / total, las / total


for epoch in range(5):
    parser.train()
    epoch_loss = 0.0
    for words, heads, labels in batches(train_data, 32, shuffle=True):
        arcs, rels = parser(words)
        arc_loss = criterion(arcs.flatten(0, 1), heads.flatten())
        rel_loss = criterion(pick(rels, heads).flatten(0, 1), labels.flatten())
        loss = arc_loss + rel_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parser.parameters(), 5.0)
        optimizer.step()
        epoch_loss += loss.item()
    scheduler.step()
    uas, las = run_dev()
    print(f"epoch {epoch} loss {epoch_loss:.2f} UAS {uas:.3f} LAS {las:.3f}")
