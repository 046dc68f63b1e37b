"""A word model with tied weights, label smoothing, and warm restarts that are told each batch's share of the epoch."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
V, T = 40, 16
step_of = torch.randint(V, (V,))
text = [0]
for _ in range(6000):
    text.append(int(step_of[text[-1]]) if torch.rand(()) < 0.8 else int(torch.randint(V, ())))
text = torch.tensor(text)
train, valid = text[:5000], text[5000:]


class Words(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed = nn.Embedding(V, d)
        self.rnn = nn.LSTM(d, d, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(d, V, bias=False)
        self.out.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)

    def forward(self, ids):
        return self.out(self.drop(self.rnn(self.drop(self.embed(ids)))[0]))


def cut(source, n=24):
    starts = torch.randint(len(source) - T - 1, (n,))
    both = torch.stack([source[s : s + T + 1] for s in starts])
    return both[:, :-1], both[:, 1:]


model = Words()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
for epoch in range(6):
    model.train()
    for i in range(20):
        x, y = cut(train)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step(epoch + i / 20)
    model.eval()
    with torch.inference_mode():
        x, y = cut(valid, 64)
        print(epoch, loss.item(), F.cross_entropy(model(x).flatten(0, 1), y.flatten()).exp().item())
