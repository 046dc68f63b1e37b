"""Short melodies in three keys: a conditional variational autoencoder of GRUs, a weight of the divergence that grows."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
NOTES, LENGTH, KEYS, START = 14, 12, 3, 14
scales = torch.tensor([[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [1, 3, 6, 8, 10, 12, 13]])


def melodies(n):
    kind = torch.randint(0, KEYS, (n,))
    step = torch.randint(-1, 2, (n, LENGTH))
    degree = (torch.randint(0, 7, (n, 1)) + step.cumsum(dim=1)).clamp(0, 6)
    return scales[kind].gather(1, degree), kind


class MelodyVAE(nn.Module):
    def __init__(self, width=40, code=8):
        super().__init__()
        self.note = nn.Embedding(NOTES + 1, width)
        self.kind = nn.Embedding(KEYS, width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.to_mu, self.to_logvar = nn.Linear(width, code), nn.Linear(width, code)
        self.from_code = nn.Linear(code, width)
        self.writer = nn.GRU(width, width, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(width, NOTES)

    def encode(self, notes):
        _, h = self.reader(self.note(notes))
        code = h[-1]
        return self.to_mu(code), self.to_logvar(code)

    def forward(self, notes, kind):
        mu, logvar = self.encode(notes)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std) if self.training else mu
        first = torch.tanh(self.from_code(z) + self.kind(kind)).unsqueeze(0)
        start = torch.full_like(notes[:, :1], START)
        given = self.drop(self.note(torch.cat([start, notes[:, :-1]], dim=1)))
        h, _ = self.writer(given, first)
        return self.out(h), mu, logvar

    @torch.no_grad()
    def sing(self, kind):
        state = torch.tanh(self.from_code(torch.randn(len(kind), 8)) + self.kind(kind)).unsqueeze(0)
        token, sung = torch.full((len(kind), 1), START), []
        for _ in range(LENGTH):
            h, state = self.writer(self.note(token), state)
            token = torch.multinomial(self.out(h[:, -1]).softmax(-1), 1)
            sung.append(token)
        return torch.cat(sung, dim=1)


def losses(logits, notes, mu, logvar):
    rebuilt = F.cross_entropy(logits.flatten(0, 1), notes.flatten(), reduction="sum") / len(notes)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(notes)
    return rebuilt, kl


data, kinds = melodies(1100)
split = 1000
held, held_kinds = data[split:], kinds[split:]
data, kinds = data[:split], kinds[:split]
model = MelodyVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
plan = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for epoch in range(4):
    model.train()
    order = torch.randperm(len(data))
    total, beta = 0.0, min(1.0, (epoch + 1) / 3) * 0.1
    for rows in order.split(40):
        notes, kind = data[rows], kinds[rows]
        logits, mu, logvar = model(notes, kind)
        rebuilt, kl = losses(logits, notes, mu, logvar)
        loss = rebuilt + beta * kl
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    plan.step()
    model.eval()
    with torch.no_grad():
        logits, mu, logvar = model(held, held_kinds)
        rebuilt, kl = losses(logits, held, mu, logvar)
    sung = model.sing(torch.arange(KEYS).repeat(20))
    fits = (sung[:, :, None] == scales[torch.arange(KEYS).repeat(20)][:, None]).any(-1).float().mean().item()
    print(epoch, f"{total / 25:.3f} held {rebuilt.item():.3f} kl {kl.item():.3f} notes of the key {fits:.2f}")
