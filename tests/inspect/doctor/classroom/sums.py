"""Sums read as letters: an LSTM encoder, a decoder with Luong attention, teacher forcing, exact match at the end."""

import random

import torch
import torch.nn as nn
from torch import optim

random.seed(4)
torch.manual_seed(4)
PAD, SOS, EOS = 0, 1, 2
CHARS = {c: i + 3 for i, c in enumerate("0123456789+")}


def make(n):
    pairs = []
    for _ in range(n):
        a, b = random.randint(0, 99), random.randint(0, 99)
        pairs.append(([CHARS[c] for c in f"{a}+{b}"], [CHARS[c] for c in str(a + b)]))
    return pairs


def batchify(pairs):
    def pad(rows):
        width = max(map(len, rows))
        return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])

    src = pad([s for s, _ in pairs])
    tgt = pad([[SOS, *t, EOS] for _, t in pairs])
    return src, tgt


class Seq2Seq(nn.Module):
    def __init__(self, vocab=14, emb=16, hid=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.encoder = nn.LSTM(emb, hid, batch_first=True)
        self.decoder = nn.LSTM(emb, hid, batch_first=True)
        self.attn = nn.Linear(hid, hid, bias=False)
        self.combine = nn.Linear(2 * hid, hid)
        self.out = nn.Linear(hid, vocab)
        self.drop = nn.Dropout(0.1)

    def encode(self, src):
        return self.encoder(self.drop(self.emb(src)))

    def decode(self, tgt, state, memory, src_mask):
        h, state = self.decoder(self.drop(self.emb(tgt)), state)
        scores = torch.bmm(self.attn(h), memory.transpose(1, 2))
        scores = scores.masked_fill(~src_mask.unsqueeze(1), float("-inf"))
        context = torch.bmm(torch.softmax(scores, dim=-1), memory)
        h = torch.tanh(self.combine(torch.cat([h, context], dim=-1)))
        return self.out(h), state

    def forward(self, src, tgt):
        memory, state = self.encode(src)
        logits, _ = self.decode(tgt, state, memory, src != PAD)
        return logits

    @torch.no_grad()
    def greedy(self, src, max_len=6):
        memory, state = self.encode(src)
        token = torch.full((len(src), 1), SOS)
        result = []
        for _ in range(max_len):
            logits, state = self.decode(token, state, memory, src != PAD)
            token = logits.argmax(-1)
            result.append(token)
        return torch.cat(result, 1)


class Trainer:
    def __init__(self, model, train_pairs, val_pairs, lr=3e-3, batch=40):
        self.model, self.train_pairs, self.val_pairs, self.batch = model, train_pairs, val_pairs, batch
        self.optimizer = optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD)

    def batches(self, pairs, shuffle):
        pairs = random.sample(pairs, len(pairs)) if shuffle else pairs
        for i in range(0, len(pairs), self.batch):
            yield batchify(pairs[i : i + self.batch])

    def loss(self, src, tgt):
        logits = self.model(src, tgt[:, :-1])
        return self.criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for src, tgt in self.batches(self.train_pairs, True):
            self.optimizer.zero_grad()
            loss = self.loss(src, tgt)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item()
        return total

    def evaluate(self):
        self.model.eval()
        total = 0.0
        with torch.no_grad():
            for src, tgt in self.batches(self.val_pairs, False):
                total += self.loss(src, tgt).item()
        return total

    def exact(self):
        self.model.eval()
        src, tgt = batchify(self.val_pairs)
        guess = self.model.greedy(src)
        return sum(EOS in g and g[: g.index(EOS)] == t[1 : t.index(EOS)] for g, t in zip(guess.tolist(), tgt.tolist())) / len(tgt)

    def fit(self, epochs):
        for epoch in range(epochs):
            print(epoch, self.train_epoch(), self.evaluate(), self.exact())


if __name__ == "__main__":
    Trainer(Seq2Seq(), make(480), make(80)).fit(3)
