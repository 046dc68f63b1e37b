"""Sequence to sequence: GRUs with attention learn to turn a word around, teacher forcing half of the time."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
random.seed(7)
PAD, SOS, EOS, V, H = 0, 1, 2, 15, 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, H, padding_idx=PAD)
        self.gru = nn.GRU(H, H, batch_first=True)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.gru(self.dropout(self.embedding(x)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, H)
        self.gru = nn.GRU(2 * H, H, batch_first=True)
        self.out = nn.Linear(H, V)
        self.dropout = nn.Dropout(0.1)

    def forward(self, token, hidden, encoded, hide):
        e = self.dropout(self.embedding(token))
        scores = torch.bmm(hidden.transpose(0, 1), encoded.transpose(1, 2))
        scores = scores.masked_fill(hide.unsqueeze(1), -1e9)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, encoded)
        out, hidden = self.gru(torch.cat([e, context], dim=2), hidden)
        return self.out(out.squeeze(1)), hidden


def batch(n=16):
    src, tgt = torch.zeros(n, 8, dtype=torch.long), torch.zeros(n, 9, dtype=torch.long)
    for i in range(n):
        k = random.randint(3, 8)
        word = torch.randint(3, V, (k,))
        src[i, :k], tgt[i, :k] = word, word.flip(0)
        tgt[i, k] = EOS
    return src, tgt


encoder, decoder = Encoder(), Decoder()
enc_opt = torch.optim.Adam(encoder.parameters(), lr=2e-3)
dec_opt = torch.optim.Adam(decoder.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)


def train_step():
    src, tgt = batch()
    encoder.train()
    decoder.train()
    enc_opt.zero_grad()
    dec_opt.zero_grad()
    encoded, hidden = encoder(src)
    token, loss, hide = torch.full((16, 1), SOS), 0, src == PAD
    forced = random.random() < 0.5
    for t in range(tgt.size(1)):
        logits, hidden = decoder(token, hidden, encoded, hide)
        loss += criterion(logits, tgt[:, t]) if (tgt[:, t] != PAD).any() else 0
        token = tgt[:, t : t + 1] if forced else logits.argmax(1, keepdim=True).detach()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
    enc_opt.step()
    dec_opt.step()
    return loss.item() / tgt.size(1)


@torch.no_grad()
def evaluate():
    encoder.eval()
    decoder.eval()
    src, tgt = batch()
    encoded, hidden = encoder(src)
    token, right = torch.full((16, 1), SOS), 0
    for t in range(tgt.size(1)):
        logits, hidden = decoder(token, hidden, encoded, src == PAD)
        token = logits.argmax(1, keepdim=True)
        right += (token[:, 0] == tgt[:, t])[tgt[:, t] != PAD].sum().item()
    return right / (tgt != PAD).sum().item()


total = 0
for step in range(1, 41):
    total += train_step()
    if step % 8 == 0:
        print(step, total / 8, evaluate())
        total = 0
