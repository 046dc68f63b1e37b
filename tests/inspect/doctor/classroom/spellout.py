"""Numbers are written out as words: encoder, attention decoder, teacher forcing with a falling share, greedy decoding."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SEED = 4
torch.manual_seed(SEED)
random.seed(SEED)

ONES = "zero one two three four five six seven eight nine".split()
ONES += "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
PAD, SOS, EOS = 0, 1, 2
WORDS = ["<pad>", "<sos>", "<eos>", *ONES, *TENS[2:], "hundred"]
WORD_ID = {w: i for i, w in enumerate(WORDS)}
DIGIT_ID = {d: i + 1 for i, d in enumerate("0123456789")}


def spell(n):
    words = []
    if n >= 100:
        words += [ONES[n // 100], "hundred"]
        n %= 100
        if n == 0:
            return words
    if n >= 20:
        words.append(TENS[n // 10])
        n %= 10
        if n == 0:
            return words
    return words + [ONES[n]]


class NumberPairs(Dataset):
    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        n = self.numbers[i]
        src = [DIGIT_ID[d] for d in str(n)]
        trg = [SOS] + [WORD_ID[w] for w in spell(n)] + [EOS]
        return src, trg


def collate_fn(batch):
    src_len = torch.tensor([len(s) for s, _ in batch])
    src = torch.zeros(len(batch), int(src_len.max()), dtype=torch.long)
    trg = torch.zeros(len(batch), max(len(t) for _, t in batch), dtype=torch.long)
    for i, (s, t) in enumerate(batch):
        src[i, : len(s)] = torch.tensor(s)
        trg[i, : len(t)] = torch.tensor(t)
    return src, src_len, trg


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, batch_first=True)

    def forward(self, src, src_len):
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(src), src_len, batch_first=True, enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.W = nn.Linear(2 * hid, hid)
        self.v = nn.Linear(hid, 1, bias=False)

    def forward(self, hidden, outputs, mask):
        query = hidden[-1].unsqueeze(1).expand(-1, outputs.size(1), -1)
        energy = self.v(torch.tanh(self.W(torch.cat([query, outputs], dim=2)))).squeeze(2)
        energy = energy.masked_fill(mask == 0, -1e10)
        return F.softmax(energy, dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.attention = Attention(hid)
        self.rnn = nn.GRU(emb + hid, hid, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.fc_out = nn.Linear(2 * hid, vocab)

    def forward(self, token, hidden, outputs, mask):
        embedded = self.dropout(self.embedding(token)).unsqueeze(1)
        weights = self.attention(hidden, outputs, mask)
        context = torch.bmm(weights.unsqueeze(1), outputs)
        output, hidden = self.rnn(torch.cat([embedded, context], dim=2), hidden)
        return self.fc_out(torch.cat([output, context], dim=2).squeeze(1)), hidden


class Seq2Seq(nn.Module):
    def __init__(self, emb=24, hid=48):
        super().__init__()
        self.encoder = Encoder(11, emb, hid)
        self.decoder = Decoder(len(WORDS), emb, hid)

    def forward(self, src, src_len, trg, teacher_forcing_ratio=0.5):
        outputs, hidden = self.encoder(src, src_len)
        mask = src != PAD
        token, logits = trg[:, 0], []
        for t in range(1, trg.size(1)):
            step, hidden = self.decoder(token, hidden, outputs, mask)
            logits.append(step)
            token = trg[:, t] if random.random() < teacher_forcing_ratio else step.argmax(1)
        return torch.stack(logits, dim=1)

    @torch.no_grad()
    def translate(self, n, most=8):
        self.eval()
        src = torch.tensor([[DIGIT_ID[d] for d in str(n)]])
        outputs, hidden = self.encoder(src, torch.tensor([src.size(1)]))
        token, words = torch.tensor([SOS]), []
        for _ in range(most):
            step, hidden = self.decoder(token, hidden, outputs, src != PAD)
            token = step.argmax(1)
            if token.item() == EOS:
                break
            words.append(WORDS[token.item()])
        return words


numbers = list(range(1000))
random.shuffle(numbers)
train_numbers, valid_numbers = numbers[:850], numbers[850:]
train_iter = DataLoader(NumberPairs(train_numbers), batch_size=32, shuffle=True, collate_fn=collate_fn)
valid_iter = DataLoader(NumberPairs(valid_numbers), batch_size=64, collate_fn=collate_fn)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
CLIP = 1.0


def train(ratio):
    model.train()
    epoch_loss = 0
    for src, src_len, trg in train_iter:
        optimizer.zero_grad()
        output = model(src, src_len, trg, ratio)
        loss = criterion(output.reshape(-1, len(WORDS)), trg[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        epoch_loss += loss.item()
    return epoch_loss / len(train_iter)


def evaluate():
    model.eval()
    epoch_loss = 0
    with torch.no_grad():
        for src, src_len, trg in valid_iter:
            output = model(src, src_len, trg, 0)
            epoch_loss += criterion(output.reshape(-1, len(WORDS)), trg[:, 1:].reshape(-1)).item()
    return epoch_loss / len(valid_iter)


for epoch in range(4):
    train_loss = train(1 - epoch * 0.2)
    print(f"Epoch {epoch + 1:02} | train {train_loss:.3f} | valid {evaluate():.3f}")
for n in valid_numbers[:3]:
    print(n, " ".join(model.translate(n)))
