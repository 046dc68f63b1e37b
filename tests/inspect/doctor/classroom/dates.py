"""Dates from one form into another by nn.Transformer: characters, start and end, padding masks, label smoothing, greedy checks."""

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(58)
PAD, SOS, EOS = 0, 1, 2
CHARS = {c: i + 3 for i, c in enumerate("0123456789-/ ")}
V = len(CHARS) + 3


def pair():
    y, m, d = int(torch.randint(1950, 2050, ())), int(torch.randint(1, 13, ())), int(torch.randint(1, 29, ()))
    return f"{d}/{m}/{y}", f"{y}-{m:02d}-{d:02d}"


def encode(text, long):
    ids = [SOS, *(CHARS[c] for c in text), EOS]
    return ids + [PAD] * (long - len(ids))


def batch(n):
    pairs = [pair() for _ in range(n)]
    return torch.tensor([encode(a, 12) for a, _ in pairs]), torch.tensor([encode(b, 12) for _, b in pairs])


class DateNet(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed, self.places = nn.Embedding(V, d, padding_idx=PAD), nn.Parameter(0.1 * torch.randn(16, d))
        self.transformer = nn.Transformer(d, 4, 2, 2, 64, 0.1, batch_first=True)
        self.out = nn.Linear(d, V)

    def forward(self, src, tgt):
        causal = torch.triu(torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool), diagonal=1)
        hide = src == PAD
        h = self.transformer(
            self.embed(src) + self.places[: src.size(1)],
            self.embed(tgt) + self.places[: tgt.size(1)],
            tgt_mask=causal,
            src_key_padding_mask=hide,
            memory_key_padding_mask=hide,
        )
        return self.out(h)


model = DateNet()
criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
warm = LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 8))
for step in range(40):
    model.train()
    src, tgt = batch(24)
    logits = model(src, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, V), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    warm.step()
    if step % 16 == 15:
        model.eval()
        with torch.no_grad():
            src, tgt = batch(16)
            made = torch.full((16, 1), SOS)
            for _ in range(11):
                made = torch.cat([made, model(src, made)[:, -1:].argmax(-1)], dim=1)
        print(step, loss.item(), (made[:, 1:] == tgt[:, 1:]).float().mean().item())
