"""Are these words happy? A two-way LSTM over packed texts; everything in the open, no functions but one."""

import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(77)
random.seed(77)
good, bad = [f"good{i}" for i in range(8)], [f"bad{i}" for i in range(8)]
plain = [f"w{i}" for i in range(30)]


def make_review():
    mood = random.randint(0, 1)
    words = random.choices(plain, k=random.randint(3, 14)) + random.choices(good if mood else bad, k=2)
    random.shuffle(words)
    return words, mood


reviews = [make_review() for _ in range(1100)]
train, test = reviews[:900], reviews[900:]
vocab = {"<pad>": 0, "<unk>": 1}
for words, _ in train:
    for word in words:
        vocab.setdefault(word, len(vocab))


class MoodLSTM(nn.Module):
    def __init__(self, vocab_size, emb_dim=24, hid=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=0)
        self.lstm = nn.LSTM(emb_dim, hid, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.3)
        self.attn = nn.Linear(2 * hid, 1)
        self.out = nn.Linear(2 * hid, 1)

    def forward(self, ids, lengths):
        emb = self.dropout(self.embedding(ids))
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        scores = self.attn(torch.tanh(states)).squeeze(-1)
        scores = scores.masked_fill(ids == 0, -1e9)
        alpha = scores.softmax(dim=1)
        summary = torch.bmm(alpha.unsqueeze(1), states).squeeze(1)
        return self.out(self.dropout(summary)).squeeze(1)


model = MoodLSTM(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_function = nn.BCEWithLogitsLoss()
batch_size = 30
for epoch in range(3):
    random.shuffle(train)
    model.train()
    epoch_loss = 0
    for b in range(0, len(train), batch_size):
        rows = train[b : b + batch_size]
        ids = pad_sequence([torch.tensor([vocab[w] for w in words]) for words, _ in rows], batch_first=True)
        lengths = torch.tensor([len(words) for words, _ in rows])
        y = torch.tensor([float(mood) for _, mood in rows])
        opt.zero_grad()
        logits = model(ids, lengths)
        loss = loss_function(logits, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        epoch_loss += loss.item()

    model.eval()
    hits = 0
    with torch.no_grad():
        for b in range(0, len(test), batch_size):
            rows = test[b : b + batch_size]
            ids = pad_sequence([torch.tensor([vocab.get(w, 1) for w in words]) for words, _ in rows], batch_first=True)
            lengths = torch.tensor([len(words) for words, _ in rows])
            y = torch.tensor([mood for _, mood in rows])
            probability = torch.sigmoid(model(ids, lengths))
            hits += ((probability > 0.5).long() == y).sum().item()
    print(epoch, round(epoch_loss / (len(train) // batch_size), 4), hits / len(test))
