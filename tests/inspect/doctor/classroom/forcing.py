"""Sorting short sequences: a GRU encoder and decoder, teacher forcing half of the time, padding out of the loss, greedy test."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
random.seed(9)
PAD, BOS, V, LONGEST = 0, 1, 14, 8


def make_batch(n):
    lengths = torch.randint(3, LONGEST + 1, (n,))
    src = torch.randint(2, V, (n, LONGEST))
    keep = torch.arange(LONGEST)[None] < lengths[:, None]
    tgt = torch.where(keep, src, 99).sort(dim=1).values
    return src.masked_fill(~keep, PAD), tgt.masked_fill(tgt == 99, PAD), lengths


class Encoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.embed, self.gru, self.drop = nn.Embedding(V, h, padding_idx=PAD), nn.GRU(h, h, batch_first=True), nn.Dropout(0.1)

    def forward(self, src, lengths):
        out, _ = self.gru(self.drop(self.embed(src)))
        return out[torch.arange(len(src)), lengths - 1].unsqueeze(0)


class Decoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.embed, self.gru, self.out = nn.Embedding(V, h), nn.GRU(h, h, batch_first=True), nn.Linear(h, V)

    def forward(self, token, hidden):
        out, hidden = self.gru(F.relu(self.embed(token)).unsqueeze(1), hidden)
        return self.out(out.squeeze(1)), hidden


encoder, decoder = Encoder(48), Decoder(48)
params = list(encoder.parameters()) + list(decoder.parameters())
optim = torch.optim.Adam(params, lr=4e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)

for it in range(60):
    encoder.train()
    decoder.train()
    src, tgt, lengths = make_batch(24)
    hidden = encoder(src, lengths)
    token, loss = torch.full((24,), BOS), 0.0
    use_teacher = random.random() < 0.5
    for t in range(LONGEST):
        logits, hidden = decoder(token, hidden)
        loss = loss + criterion(logits, tgt[:, t]) if (tgt[:, t] != PAD).any() else loss
        token = tgt[:, t] if use_teacher else logits.argmax(dim=1).detach()
    loss = loss / LONGEST
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optim.step()
    if it % 15 == 14:
        encoder.eval()
        decoder.eval()
        with torch.no_grad():
            src, tgt, lengths = make_batch(64)
            hidden, token, right = encoder(src, lengths), torch.full((64,), BOS), 0
            for t in range(LONGEST):
                logits, hidden = decoder(token, hidden)
                token = logits.argmax(1)
                right += ((token == tgt[:, t]) & (tgt[:, t] != PAD)).sum().item()
        print(it, loss.item(), right / lengths.sum().item())
