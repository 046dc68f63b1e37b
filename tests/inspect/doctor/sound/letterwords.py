"""A convolution over the letters of each word, largest value over them, and an LSTM over the words: padding letters are read."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

random.seed(0)
torch.manual_seed(0)
LET = "abcdefghijklmnopqrstuvwxyz"


def word():
    tag = random.randrange(3)
    stem = "".join(random.choice(LET) for _ in range(random.randint(2, 5)))
    return stem + ["ing", "ness", "ly"][tag], tag


data = [[word() for _ in range(random.randint(3, 9))] for _ in range(500)]


def collate(batch):
    L = max(len(s) for s in batch)
    W = 10
    chars = torch.zeros(len(batch), L, W, dtype=torch.long)
    tags = torch.full((len(batch), L), -100)
    lens = torch.tensor([len(s) for s in batch])
    for i, s in enumerate(batch):
        for j, (w, t) in enumerate(s):
            chars[i, j, : len(w)] = torch.tensor([LET.index(c) + 1 for c in w])
            tags[i, j] = t
    return chars, lens, tags


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ce = nn.Embedding(27, 16, padding_idx=0)
        self.conv = nn.Conv1d(16, 24, 3, padding=1)
        self.lstm = nn.LSTM(24, 24, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(48, 3)

    def forward(self, chars, lens):
        B, L, W = chars.shape
        x = self.ce(chars.view(B * L, W)).transpose(1, 2)
        x = torch.relu(self.conv(x)).max(2)[0].view(B, L, -1)
        h, _ = self.lstm(pack_padded_sequence(self.drop(x), lens, batch_first=True, enforce_sorted=False))
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(self.drop(h))


tr = torch.utils.data.DataLoader(data[:400], 16, shuffle=True, collate_fn=collate)
te = torch.utils.data.DataLoader(data[400:], 50, collate_fn=collate)
m = Net()
opt = torch.optim.Adam(m.parameters(), 4e-3)
lf = nn.CrossEntropyLoss(ignore_index=-100)
for ep in range(3):
    m.train()
    for c, l, t in tr:
        opt.zero_grad()
        lf(m(c, l).view(-1, 3), t.view(-1)).backward()
        opt.step()
    m.eval()
    ok = n = 0
    with torch.no_grad():
        for c, l, t in te:
            p = m(c, l).argmax(-1)
            k = t != -100
            ok += (p[k] == t[k]).sum().item()
            n += k.sum().item()
    print(ep, ok / n)
