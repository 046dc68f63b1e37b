"""Human dates to ISO dates: an encoder, a decoder with Bahdanau attention."""

import random
from datetime import date, timedelta

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

FORMATS = ["%d %b %Y", "%B %d, %Y", "%d.%m.%Y", "%A %d %B %Y", "%b %d %y"]
PAD, SOS, EOS = "_", "<", ">"


def build_pairs(n, seed=0):
    rng = random.Random(seed)
    pairs = []
    for _ in range(n):
        day = date(1980, 1, 1) + timedelta(days=rng.randrange(365 * 45))
        pairs.append((day.strftime(rng.choice(FORMATS)).lower(), SOS + day.isoformat() + EOS))
    return pairs


pairs = build_pairs(1400)
src_chars = [PAD] + sorted({c for s, _ in pairs for c in s})
tgt_chars = [PAD, SOS, EOS] + list("0123456789-")
src_ix = {c: i for i, c in enumerate(src_chars)}
tgt_ix = {c: i for i, c in enumerate(tgt_chars)}
src_len = max(len(s) for s, _ in pairs)


def tensors(rows):
    src = torch.zeros(len(rows), src_len, dtype=torch.long)
    for r, (s, _) in enumerate(rows):
        src[r, : len(s)] = torch.tensor([src_ix[c] for c in s])
    tgt = torch.tensor([[tgt_ix[c] for c in t] for _, t in rows])
    return src, tgt


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hid, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(hid * 2, hid)

    def forward(self, src):
        outputs, hidden = self.rnn(self.embedding(src))
        hidden = torch.tanh(self.fc(torch.cat([hidden[-2], hidden[-1]], dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.attn = nn.Linear(hid * 3, hid)
        self.v = nn.Linear(hid, 1, bias=False)

    def forward(self, hidden, outputs, mask):
        hidden = hidden.unsqueeze(1).repeat(1, outputs.shape[1], 1)
        energy = torch.tanh(self.attn(torch.cat([hidden, outputs], dim=2)))
        score = self.v(energy).squeeze(2)
        score = score.masked_fill(mask == 0, -1e10)
        return torch.softmax(score, dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.attention = Attention(hid)
        self.rnn = nn.GRUCell(emb + hid * 2, hid)
        self.fc_out = nn.Linear(hid * 3 + emb, vocab)

    def forward(self, token, hidden, outputs, mask):
        embedded = self.embedding(token)
        a = self.attention(hidden, outputs, mask)
        weighted = torch.bmm(a.unsqueeze(1), outputs).squeeze(1)
        hidden = self.rnn(torch.cat([embedded, weighted], dim=1), hidden)
        logits = self.fc_out(torch.cat([hidden, weighted, embedded], dim=1))
        return logits, hidden


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, tgt, teacher_forcing=0.7):
        mask = src != 0
        outputs, hidden = self.encoder(src)
        token, steps = tgt[:, 0], []
        for t in range(1, tgt.shape[1]):
            logits, hidden = self.decoder(token, hidden, outputs, mask)
            steps.append(logits)
            token = tgt[:, t] if random.random() < teacher_forcing else logits.argmax(1)
        return torch.stack(steps, dim=1)


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    epoch_loss = 0
    for src, tgt in loader:
        optimizer.zero_grad()
        output = model(src, tgt)
        loss = criterion(output.reshape(-1, output.shape[-1]), tgt[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        epoch_loss += loss.item()
    return epoch_loss / len(loader)


def evaluate(model, loader):
    """Share of dates that are written without an error."""
    model.eval()
    right = total = 0
    with torch.no_grad():
        for src, tgt in loader:
            pred = model(src, tgt, teacher_forcing=0).argmax(2)
            right += (pred == tgt[:, 1:]).all(dim=1).sum().item()
            total += len(src)
    return right / total


random.seed(1)
torch.manual_seed(1)
train_data = TensorDataset(*tensors(pairs[:1200]))
valid_data = TensorDataset(*tensors(pairs[1200:]))
train_iter = DataLoader(train_data, batch_size=64, shuffle=True)
valid_iter = DataLoader(valid_data, batch_size=100)

model = Seq2Seq(Encoder(len(src_chars), 24, 48), Decoder(len(tgt_chars), 16, 48))
for name, param in model.named_parameters():
    if "weight" in name:
        nn.init.normal_(param.data, mean=0, std=0.1)
    else:
        nn.init.constant_(param.data, 0)
optimizer = optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    loss = train_one_epoch(model, train_iter, optimizer, criterion)
    print(f"Epoch: {epoch + 1:02} | Train Loss: {loss:.3f} | Valid exact: {evaluate(model, valid_iter):.2%}")
