"""A translator in the style of an annotated paper: deep copies, masks of Python's own, label smoothing, a schedule."""

import copy
import math

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.nn.functional import log_softmax
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler  # noqa: F401


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class Norm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super(Norm, self).__init__()
        self.a_2, self.b_2, self.eps = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features)), eps

    def forward(self, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p = scores.softmax(dim=-1)
    return torch.matmul(dropout(p) if dropout is not None else p, value), p


class Heads(nn.Module):
    def __init__(self, h, d, dropout=0.1):
        super().__init__()
        self.d_k, self.h, self.linears, self.attn = d // h, h, clones(nn.Linear(d, d), 4), None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        mask = mask.unsqueeze(1) if mask is not None else None
        n = query.size(0)
        query, key, value = [
            lin(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for lin, x in zip(self.linears, (query, key, value))
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        del query, key, value
        return self.linears[-1](x)


class Positions(nn.Module):
    def __init__(self, d, max_len=64):
        super().__init__()
        pe = torch.zeros(max_len, d)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)].requires_grad_(False)


class Layer(nn.Module):
    def __init__(self, d, h, cross):
        super().__init__()
        self.attn, self.cross = Heads(h, d), Heads(h, d) if cross else None
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(2 * d, d))
        self.norms = clones(Norm(d), 3)

    def forward(self, x, mask, memory=None, memory_mask=None):
        y = self.norms[0](x)
        x = x + self.attn(y, y, y, mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory, memory, memory_mask)
        return x + self.ff(self.norms[2](x))


class Translator(nn.Module):
    def __init__(self, vocab, d=32, h=4, N=2):
        super().__init__()
        self.embed, self.pos, self.d = nn.Embedding(vocab, d), Positions(d), d
        self.encoder, self.decoder = clones(Layer(d, h, False), N), clones(Layer(d, h, True), N)
        self.norm_e, self.norm_d, self.out = Norm(d), Norm(d), nn.Linear(d, vocab)

    def encode(self, src, mask):
        x = self.pos(self.embed(src) * math.sqrt(self.d))
        for layer in self.encoder:
            x = layer(x, mask)
        return self.norm_e(x)

    def decode(self, memory, src_mask, tgt, tgt_mask):
        x = self.pos(self.embed(tgt) * self.d**0.5)
        for layer in self.decoder:
            x = layer(x, tgt_mask, memory, src_mask)
        return log_softmax(self.out(self.norm_d(x)), dim=-1)

    def forward(self, src, tgt, src_mask, tgt_mask):
        return self.decode(self.encode(src, src_mask), src_mask, tgt, tgt_mask)


def subsequent_mask(size):
    return torch.triu(torch.ones((1, size, size)), diagonal=1).type(torch.uint8) == 0


class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")
        self.size, self.padding_idx, self.smoothing = size, padding_idx, smoothing

    def forward(self, x, target):
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), 1.0 - self.smoothing)
        true_dist[:, self.padding_idx] = 0
        mask = torch.nonzero(target.data == self.padding_idx)
        if mask.dim() > 0:
            true_dist.index_fill_(0, mask.squeeze(), 0.0)
        return self.criterion(x, true_dist.clone().detach())


class Reversal(Dataset):
    def __init__(self, n, vocab):
        rng = np.random.RandomState(0)
        self.rows = [rng.randint(3, vocab, size=rng.randint(4, 9)) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.from_numpy(self.rows[i].astype(np.int64))


def collate(batch):
    pad = lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=0)  # noqa: E731
    return pad(batch), pad([torch.cat([torch.tensor([1]), row.flip(0), torch.tensor([2])]) for row in batch])


def rate(step, size, factor, warmup):
    step = max(step, 1)
    return factor * (size ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5)))


torch.manual_seed(0)
V = 13
model = Translator(V)
for p in model.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
criterion = LabelSmoothing(V, padding_idx=0, smoothing=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
schedule = LambdaLR(optimizer=optimizer, lr_lambda=lambda step: rate(step, 32, 1.0, 40))
loader = DataLoader(Reversal(64, V), batch_size=16, shuffle=True, collate_fn=collate, pin_memory=True)
for epoch in range(4):
    total, tokens = 0.0, 0
    for src, tgt in loader:
        inputs, labels = Variable(tgt[:, :-1]), tgt[:, 1:]
        src_mask = (src != 0).unsqueeze(-2)
        tgt_mask = (inputs != 0).unsqueeze(-2) & subsequent_mask(inputs.size(-1)).type_as(src_mask.data)
        out = model(src, inputs, src_mask, tgt_mask)
        n = (labels != 0).data.sum()
        loss = criterion(out.contiguous().view(-1, V), labels.contiguous().view(-1)) / n
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        total, tokens = total + loss.item() * n, tokens + n
    print("epoch %d, loss %.4f, %d tokens, lr %.5f" % (epoch, total / tokens, tokens, optimizer.param_groups[0]["lr"]))
model.eval()
src = torch.LongTensor([[3, 4, 5, 6]])
memory, ys = model.encode(src, torch.ones(1, 1, 4)), torch.ones(1, 1).type_as(src.data)
for _ in range(4):
    prob = model.decode(memory, torch.ones(1, 1, 4), ys, subsequent_mask(ys.size(1)).type_as(src.data))[:, -1]
    ys = torch.cat([ys, torch.empty(1, 1).type_as(src.data).fill_(torch.max(prob, dim=1)[1].data[0])], dim=1)
print(ys, ys.dtype, ys.shape)
