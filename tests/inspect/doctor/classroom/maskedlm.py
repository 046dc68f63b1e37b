"""Masked words with an encoder of its own attention, 80/10/10, labels of -100, AdamW with warmup, gradient clipping."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(12)
V, MASK, PAD, D, HEADS = 60, 1, 0, 32, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x, pad):
        B, T, _ = x.shape
        q = self.query(x).view(B, T, HEADS, D // HEADS).transpose(1, 2)
        k = self.key(x).view(B, T, HEADS, D // HEADS).transpose(1, 2)
        v = self.value(x).view(B, T, HEADS, D // HEADS).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // HEADS)
        scores = scores.masked_fill(pad[:, None, None, :], -1e9)
        weights = scores.softmax(dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.out(y)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Attention(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.ff = nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, pad):
        x = self.norm1(x + self.dropout(self.attention(x, pad)))
        return self.norm2(x + self.dropout(self.ff(x)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.position = nn.Embedding(V, D, padding_idx=PAD), nn.Embedding(32, D)
        self.layers, self.head = nn.ModuleList(Layer() for _ in range(2)), nn.Linear(D, V)

    def forward(self, ids):
        pad = ids == PAD
        x = self.word(ids) + self.position(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x, pad)
        return self.head(x)


def texts(n):
    start = torch.randint(2, V, (n, 1))
    ids = 2 + (start + 3 * torch.arange(16)) % (V - 2)
    ids[torch.arange(16) >= torch.randint(8, 17, (n, 1))] = PAD
    return ids


def mask_tokens(ids):
    labels = ids.clone()
    chosen = (torch.rand(ids.shape) < 0.15) & (ids != PAD)
    labels[~chosen] = -100
    masked = ids.clone()
    kind = torch.rand(ids.shape)
    masked[chosen & (kind < 0.8)] = MASK
    replaced = chosen & (kind >= 0.8) & (kind < 0.9)
    masked[replaced] = torch.randint(2, V, ids.shape)[replaced]
    return masked, labels


model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 5))
held = mask_tokens(texts(64))
for step in range(50):
    model.train()
    ids, labels = mask_tokens(texts(32))
    logits = model(ids)
    loss = F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    warm.step()
    if step % 15 == 14:
        model.eval()
        with torch.no_grad():
            val = F.cross_entropy(model(held[0]).view(-1, V), held[1].view(-1), ignore_index=-100)
        print(step, f"{loss.item():.3f} {val.item():.3f}")
