"""A masked language model in the style of BERT: nn.Transformer layers, padding masks, a wrapped optimizer, save and load."""

import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as data
from torch.utils.data import RandomSampler, TensorDataset, random_split

torch.manual_seed(11)
np.random.seed(0)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
V, T, PAD, MASK = 20, 10, 0, 1


class Bert(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.token, self.segment = nn.Embedding(V, d, padding_idx=PAD), nn.Embedding(3, d, padding_idx=PAD)
        self.position = nn.Parameter(torch.empty(T, d))
        nn.init.trunc_normal_(self.position, std=0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.words, self.next = nn.Linear(d, V), nn.Linear(d, 2)
        self.softmax = nn.LogSoftmax(dim=-1)

    def forward(self, x, segment):
        hidden = x.eq(PAD)
        y = self.token(x) + self.segment(segment) + self.position.unsqueeze(0)
        y = self.encoder(y, src_key_padding_mask=hidden)
        return self.softmax(self.next(y[:, 0])), self.softmax(self.words(y))


class Scheduled:
    def __init__(self, optimizer, d, warmup):
        self._optimizer, self.warmup, self.n, self.base = optimizer, warmup, 0, np.power(d, -0.5)

    def step(self):
        self.n += 1
        lr = float(self.base * np.min([np.power(self.n, -0.5), np.power(self.warmup, -1.5) * self.n]))
        for group in self._optimizer.param_groups:
            group["lr"] = lr
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()


x = torch.from_numpy(np.random.randint(2, V, size=(48, T)))
x[::3, -3:] = PAD
segment = torch.cat([torch.ones(48, T // 2), 2 * torch.ones(48, T // 2)], dim=1).long()
hide = torch.bernoulli(torch.full(x.shape, 0.2)).bool() & (x != PAD)
labels = x.clone().masked_fill_(~hide, PAD)
masked = torch.where(hide, torch.full_like(x, MASK), x)
pairs = torch.LongTensor([i % 2 for i in range(48)])
train, test = random_split(TensorDataset(masked, segment, labels, pairs), [36, 12], generator=torch.Generator().manual_seed(42))
loader = data.DataLoader(train, batch_size=12, sampler=RandomSampler(train), num_workers=0, drop_last=True)
model = Bert().to(device)
optimizer = Scheduled(torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999), weight_decay=0.01), 32, 10)
criterion = nn.NLLLoss(ignore_index=PAD)
for epoch in range(3):
    average, correct, seen = 0, 0, 0
    for batch in loader:
        batch = [part.to(device) for part in batch]
        next_output, word_output = model(batch[0], batch[1])
        loss = F.nll_loss(next_output, batch[3]) + criterion(word_output.transpose(1, 2), batch[2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += next_output.argmax(dim=-1).eq(batch[3]).sum().item()
        seen += batch[3].nelement()
        average += loss.item()
    print({"epoch": epoch, "loss": round(average / len(loader), 4), "accuracy": correct * 100.0 / seen})
path = os.path.join(tempfile.mkdtemp(), "bert.pt")
torch.save({"model": model.state_dict(), "optimizer": optimizer._optimizer.state_dict(), "epoch": 3}, path)
kept = torch.load(path, map_location="cpu", weights_only=True)
again = Bert()
print(again.load_state_dict(kept["model"]), kept["epoch"], sorted(kept["optimizer"]["state"][0]))
model.eval()
again.eval()
with torch.no_grad():
    a, b = model(test[0][0][None], test[0][1][None]), again(test[0][0][None], test[0][1][None])
print(torch.equal(a[1], b[1]), "%.3f" % a[0].exp().sum())
print(again.encoder.layers[0].self_attn)
