"""Sequence to sequence learning with attention: spell dates, from German-like words to ISO digits."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(0)
torch.manual_seed(0)

MONTHS = ["januar", "februar", "maerz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember"]
DAYS = [f"{d}." for d in range(1, 29)]


class Lang:
    def __init__(self):
        self.word2index = {}
        self.index2word = {0: "PAD", 1: "SOS", 2: "EOS"}
        self.n_words = 3

    def add(self, words):
        for word in words:
            if word not in self.word2index:
                self.word2index[word] = self.n_words
                self.index2word[self.n_words] = word
                self.n_words += 1


def make_pair():
    day, month, year = random.randint(1, 28), random.randint(1, 12), random.randint(1990, 2019)
    source = ["am", DAYS[day - 1], MONTHS[month - 1], *str(year)]
    if random.random() < 0.5:
        source = source[1:]
    return source, list(f"{year}-{month:02d}-{day:02d}")


pairs = [make_pair() for _ in range(1400)]
src_lang, trg_lang = Lang(), Lang()
for source, target in pairs:
    src_lang.add(source)
    trg_lang.add(target)
PAD_IDX, SOS_IDX, EOS_IDX = 0, 1, 2


def to_tensor(sentences, lang):
    rows = [[SOS_IDX] + [lang.word2index[w] for w in s] + [EOS_IDX] for s in sentences]
    longest = max(len(r) for r in rows)
    return torch.tensor([r + [PAD_IDX] * (longest - len(r)) for r in rows]).t()  # [len, batch]


def batches(pairs, batch_size, shuffle):
    if shuffle:
        pairs = random.sample(pairs, len(pairs))
    for i in range(0, len(pairs), batch_size):
        chunk = pairs[i : i + batch_size]
        yield to_tensor([p[0] for p in chunk], src_lang), to_tensor([p[1] for p in chunk], trg_lang)


class Encoder(nn.Module):
    def __init__(self, input_dim, emb_dim, hid_dim, dropout):
        super().__init__()
        self.embedding = nn.Embedding(input_dim, emb_dim)
        self.rnn = nn.GRU(emb_dim, hid_dim, bidirectional=True)
        self.fc = nn.Linear(hid_dim * 2, hid_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src):
        embedded = self.dropout(self.embedding(src))
        outputs, hidden = self.rnn(embedded)
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, hid_dim):
        super().__init__()
        self.attn = nn.Linear(hid_dim * 3, hid_dim)
        self.v = nn.Linear(hid_dim, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        src_len = encoder_outputs.shape[0]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        encoder_outputs = encoder_outputs.permute(1, 0, 2)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        attention = self.v(energy).squeeze(2)
        attention = attention.masked_fill(mask == 0, -1e10)
        return F.softmax(attention, dim=1)


class Decoder(nn.Module):
    def __init__(self, output_dim, emb_dim, hid_dim, dropout, attention):
        super().__init__()
        self.output_dim = output_dim
        self.attention = attention
        self.embedding = nn.Embedding(output_dim, emb_dim)
        self.rnn = nn.GRU(hid_dim * 2 + emb_dim, hid_dim)
        self.fc_out = nn.Linear(hid_dim * 3 + emb_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input, hidden, encoder_outputs, mask):
        embedded = self.dropout(self.embedding(input.unsqueeze(0)))
        a = self.attention(hidden, encoder_outputs, mask).unsqueeze(1)
        weighted = torch.bmm(a, encoder_outputs.permute(1, 0, 2)).permute(1, 0, 2)
        output, hidden = self.rnn(torch.cat((embedded, weighted), dim=2), hidden.unsqueeze(0))
        prediction = self.fc_out(torch.cat((output.squeeze(0), weighted.squeeze(0), embedded.squeeze(0)), dim=1))
        return prediction, hidden.squeeze(0)


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        trg_len, batch_size = trg.shape
        outputs = torch.zeros(trg_len, batch_size, self.decoder.output_dim)
        encoder_outputs, hidden = self.encoder(src)
        mask = (src != PAD_IDX).permute(1, 0)
        input = trg[0]
        for t in range(1, trg_len):
            output, hidden = self.decoder(input, hidden, encoder_outputs, mask)
            outputs[t] = output
            teacher_force = random.random() < teacher_forcing_ratio
            top1 = output.argmax(1)
            input = trg[t] if teacher_force else top1
        return outputs


def train(model, pairs, optimizer, criterion, clip):
    model.train()
    epoch_loss, n = 0, 0
    for src, trg in batches(pairs, 40, shuffle=True):
        optimizer.zero_grad()
        output = model(src, trg)
        output_dim = output.shape[-1]
        loss = criterion(output[1:].reshape(-1, output_dim), trg[1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        epoch_loss += loss.item()
        n += 1
    return epoch_loss / n


def evaluate(model, pairs, criterion):
    model.eval()
    epoch_loss, n, right, total = 0, 0, 0, 0
    with torch.no_grad():
        for src, trg in batches(pairs, 100, shuffle=False):
            output = model(src, trg, 0)
            epoch_loss += criterion(output[1:].reshape(-1, output.shape[-1]), trg[1:].reshape(-1)).item()
            n += 1
            right += (output[1:].argmax(-1) == trg[1:]).all(dim=0).sum().item()
            total += trg.shape[1]
    return epoch_loss / n, right / total


train_pairs, test_pairs = pairs[:1200], pairs[1200:]
attention = Attention(48)
model = Seq2Seq(Encoder(src_lang.n_words, 32, 48, 0.1), Decoder(trg_lang.n_words, 32, 48, 0.1, attention))
optimizer = optim.Adam(model.parameters(), lr=0.004)
criterion = nn.CrossEntropyLoss(ignore_index=PAD_IDX)
for epoch in range(5):
    train_loss = train(model, train_pairs, optimizer, criterion, clip=1)
    test_loss, exact = evaluate(model, test_pairs, criterion)
    print(f"Epoch {epoch + 1}: train {train_loss:.3f} | test {test_loss:.3f} | exact {exact:.2%}")
