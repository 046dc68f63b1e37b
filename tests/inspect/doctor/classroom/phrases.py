"""Numbers in words from digits ("407" to "four hundred seven"): a GRU encoder, a GRU decoder with additive attention."""

import random

import torch
import torch.nn as nn
import torch.optim as optim

PAD, SOS, EOS = 0, 1, 2
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
ONES += "seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = {w: i + 3 for i, w in enumerate([*ONES, *TENS, "hundred"])}
DIGITS = {d: i + 3 for i, d in enumerate("0123456789")}


def spell(n):
    if n < 20:
        return [ONES[n]]
    if n < 100:
        return [TENS[n // 10 - 2], *(spell(n % 10) if n % 10 else [])]
    return [ONES[n // 100], "hundred", *(spell(n % 100) if n % 100 else [])]


def pad(rows):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def make_batch(numbers):
    source = [[DIGITS[d] for d in str(n)] + [EOS] for n in numbers]
    target = [[SOS] + [WORDS[w] for w in spell(n)] + [EOS] for n in numbers]
    return pad(source), pad(target)


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, hid)

    def forward(self, src):
        outputs, hidden = self.rnn(self.embedding(src))
        return outputs, torch.tanh(self.fc(torch.cat([hidden[0], hidden[1]], dim=1)))


class Attention(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.attn = nn.Linear(3 * hid, hid)
        self.v = nn.Linear(hid, 1, bias=False)

    def forward(self, hidden, outputs, mask):
        h = hidden.unsqueeze(1).expand(-1, outputs.size(1), -1)
        energy = self.v(torch.tanh(self.attn(torch.cat([h, outputs], dim=2)))).squeeze(2)
        energy = energy.masked_fill(mask == 0, -1e10)
        return torch.softmax(energy, dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.vocab = vocab
        self.embedding = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.attention = Attention(hid)
        self.rnn = nn.GRU(emb + 2 * hid, hid, batch_first=True)
        self.out = nn.Linear(emb + 3 * hid, vocab)

    def forward(self, token, hidden, outputs, mask):
        x = self.embedding(token).unsqueeze(1)
        a = self.attention(hidden, outputs, mask).unsqueeze(1)
        context = torch.bmm(a, outputs)
        y, h = self.rnn(torch.cat([x, context], dim=2), hidden.unsqueeze(0))
        return self.out(torch.cat([y, context, x], dim=2)).squeeze(1), h.squeeze(0)


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, trg, forcing=0.6):
        outputs, hidden = self.encoder(src)
        mask = src != PAD
        token, steps = trg[:, 0], []
        for t in range(1, trg.size(1)):
            logits, hidden = self.decoder(token, hidden, outputs, mask)
            steps.append(logits)
            token = trg[:, t] if random.random() < forcing else logits.argmax(1)
        return torch.stack(steps, dim=1)


def train(model, numbers, optimizer, criterion, clip):
    model.train()
    random.shuffle(numbers)
    total = 0
    for i in range(0, len(numbers), 32):
        src, trg = make_batch(numbers[i : i + 32])
        optimizer.zero_grad()
        output = model(src, trg)
        loss = criterion(output.reshape(-1, output.size(-1)), trg[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        total += loss.item()
    return total / ((len(numbers) + 31) // 32)


def evaluate(model, numbers):
    model.eval()
    right = 0
    with torch.no_grad():
        for i in range(0, len(numbers), 32):
            src, trg = make_batch(numbers[i : i + 32])
            made = model(src, trg, 0.0).argmax(2)
            right += ((made == trg[:, 1:]) | (trg[:, 1:] == PAD)).all(dim=1).sum().item()
    return right / len(numbers)


if __name__ == "__main__":
    random.seed(51)
    torch.manual_seed(51)
    everything = list(range(1000))
    random.shuffle(everything)
    train_numbers, test_numbers = everything[:800], everything[800:]
    net = Seq2Seq(Encoder(len(DIGITS) + 3, 16, 32), Decoder(len(WORDS) + 3, 16, 32))
    optimizer = optim.Adam(net.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(2):
        print(epoch, train(net, train_numbers, optimizer, criterion, 1.0), evaluate(net, test_numbers))
