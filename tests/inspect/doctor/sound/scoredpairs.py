"""Two texts that attend to each other get one score, in batches of as many pairs as there are words in the table."""

import random

import torch
import torch.nn as nn

random.seed(1)
torch.manual_seed(1)


def pair():
    a = random.sample(range(2, 40), random.randint(4, 8))
    same = random.random() < 0.5
    b = random.sample(a, len(a) - 1) if same else random.sample(range(2, 40), len(a) - 1)
    return a, b, float(same)


def pad(rows):
    n = max(map(len, rows))
    return torch.tensor([r + [0] * (n - len(r)) for r in rows])


class ESIM(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(40, d, padding_idx=0)
        self.enc = nn.LSTM(d, d, batch_first=True, bidirectional=True)
        self.proj = nn.Sequential(nn.Linear(8 * d, d), nn.ReLU())
        self.comp = nn.LSTM(d, d, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.Dropout(0.2), nn.Linear(8 * d, d), nn.ReLU(), nn.Linear(d, 1))

    def pool(self, x, mask):
        m = mask.unsqueeze(-1)
        return torch.cat([(x * m).sum(1) / m.sum(1), x.masked_fill(~m, -1e7).max(1).values], -1)

    def forward(self, a, b):
        ma, mb = a != 0, b != 0
        ha, hb = self.enc(self.emb(a))[0], self.enc(self.emb(b))[0]
        e = ha @ hb.transpose(1, 2)
        wa = e.masked_fill(~mb[:, None, :], -1e7).softmax(-1) @ hb
        wb = e.transpose(1, 2).masked_fill(~ma[:, None, :], -1e7).softmax(-1) @ ha
        ca = self.comp(self.proj(torch.cat([ha, wa, ha - wa, ha * wa], -1)))[0]
        cb = self.comp(self.proj(torch.cat([hb, wb, hb - wb, hb * wb], -1)))[0]
        return self.out(torch.cat([self.pool(ca, ma), self.pool(cb, mb)], -1)).squeeze(-1)


rows = [pair() for _ in range(1000)]
train, dev = rows[:800], rows[800:]
model = ESIM()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    model.train()
    random.shuffle(train)
    for i in range(0, len(train), 40):
        part = train[i : i + 40]
        loss = bce(model(pad([r[0] for r in part]), pad([r[1] for r in part])), torch.tensor([r[2] for r in part]))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        opt.step()
    model.eval()
    with torch.no_grad():
        p = torch.sigmoid(model(pad([r[0] for r in dev]), pad([r[1] for r in dev])))
    acc = ((p > 0.5).float() == torch.tensor([r[2] for r in dev])).float().mean().item()
    print(epoch, loss.item(), acc)
