"""Syllables to letters: a GRU reads, another one writes with Luong's attention, teacher forcing that fades, bucketed batches."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(23)
torch.manual_seed(23)
HEADS, VOWELS, TAILS = "g n d r m b s j h k".split(), "a eo o u i".split(), ["", "", "n", "ng", "l"]
SYLLABLES = [(h, v, t) for h in HEADS for v in VOWELS for t in TAILS[1:]]
LETTERS = "".join(sorted(set("".join(HEADS + VOWELS + TAILS))))
PAD, BOS, EOS = 0, 1, 2
letter_id = {c: i + 3 for i, c in enumerate(LETTERS)}


def word():
    ids = [random.randrange(len(SYLLABLES)) for _ in range(random.randint(1, 5))]
    text = "".join("".join(SYLLABLES[i]) for i in ids)
    text = text.replace("nr", "ll").replace("gn", "ngn")
    return torch.tensor([i + 1 for i in ids]), torch.tensor([BOS] + [letter_id[c] for c in text] + [EOS])


words = [word() for _ in range(1300)]
train_words, dev_words = words[:1150], words[1150:]


def bucketed(data, size, shuffle):
    data = sorted(data, key=lambda pair: len(pair[0]))
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    if shuffle:
        random.shuffle(chunks)
    for chunk in chunks:
        src = pad_sequence([s for s, _ in chunk], batch_first=True, padding_value=PAD)
        tgt = pad_sequence([t for _, t in chunk], batch_first=True, padding_value=PAD)
        yield src, torch.tensor([len(s) for s, _ in chunk]), tgt


class Encoder(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.join = nn.Linear(2 * d, d)

    def forward(self, src, lengths):
        packed = pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.join(out), torch.tanh(self.join(torch.cat([h[0], h[1]], dim=-1)))


class Decoder(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=PAD)
        self.cell = nn.GRUCell(d, d)
        self.query = nn.Linear(d, d, bias=False)
        self.mix = nn.Linear(2 * d, d)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(d, vocab)

    def forward(self, token, h, memory, mask):
        h = self.cell(self.drop(self.embed(token)), h)
        scores = torch.bmm(memory, self.query(h).unsqueeze(2)).squeeze(2)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        return self.out(torch.tanh(self.mix(torch.cat([h, context], dim=1)))), h


class Romanizer(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.encoder = Encoder(len(SYLLABLES) + 1, d)
        self.decoder = Decoder(len(LETTERS) + 3, d)

    def forward(self, src, lengths, tgt, forcing):
        memory, h = self.encoder(src, lengths)
        mask = src != PAD
        token, logits = tgt[:, 0], []
        for t in range(1, tgt.size(1)):
            step, h = self.decoder(token, h, memory, mask)
            logits.append(step)
            token = tgt[:, t] if random.random() < forcing else step.argmax(1)
        return torch.stack(logits, dim=1)

    @torch.no_grad()
    def write(self, src, lengths, longest=24):
        memory, h = self.encoder(src, lengths)
        token, said = torch.full((len(src),), BOS), []
        for _ in range(longest):
            step, h = self.decoder(token, h, memory, src != PAD)
            token = step.argmax(1)
            said.append(token)
        return torch.stack(said, dim=1)


def dev_score(model):
    model.eval()
    total, right, count = 0.0, 0, 0
    for src, lengths, tgt in bucketed(dev_words, 75, shuffle=False):
        with torch.no_grad():
            logits = model(src, lengths, tgt, 0.0)
            total += F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD).item() * len(src)
        said = model.write(src, lengths)
        for row, truth in zip(said.tolist(), tgt[:, 1:].tolist()):
            truth = truth[: truth.index(EOS)]
            right += (row[: row.index(EOS)] if EOS in row else row) == truth
        count += len(src)
    return total / count, right / count


model = Romanizer()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
EPOCHS = 3
for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for src, lengths, tgt in bucketed(train_words, 50, shuffle=True):
        logits = model(src, lengths, tgt, forcing=1.0 - 0.5 * epoch / EPOCHS)
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    dev_loss, dev_right = dev_score(model)
    print(f"epoch {epoch} loss {total / 23:.3f} dev {dev_loss:.3f} whole words {dev_right:.3f}")
