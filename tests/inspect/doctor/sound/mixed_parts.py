"""Accumulation with a last part that is smaller, autocast to bfloat16, a loss summed over tokens, divided by their number."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)
V, PAD = 30, 0


def sentence():
    n = int(torch.randint(5, 13, ()))
    words = torch.randint(1, V, (n,))
    words[1::2] = (words[::2][: len(words[1::2])] * 7) % (V - 1) + 1
    return words


class Tagger(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed = nn.Embedding(V, d, padding_idx=PAD)
        self.place = nn.Embedding(16, d)
        layer = nn.TransformerEncoderLayer(d, 2, 64, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(d, 3)

    def forward(self, ids):
        h = self.embed(ids) + self.place(torch.arange(ids.size(1)))
        return self.out(self.body(h, src_key_padding_mask=ids == PAD))


def batch(rows):
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    tags = torch.where(ids == PAD, -100, (ids + ids.roll(1, 1)) % 3)
    return ids, tags


texts = [sentence() for _ in range(700)]
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    order = torch.randperm(600).tolist()
    for start in range(0, 600, 64):
        parts = [batch([texts[i] for i in order[a : a + 16]]) for a in range(start, min(start + 64, 600), 16)]
        tokens = sum((tags != -100).sum() for _, tags in parts)
        optimizer.zero_grad()
        for ids, tags in parts:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(ids)
            loss = F.cross_entropy(logits.float().flatten(0, 1), tags.flatten(), reduction="sum") / tokens
            loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        ids, tags = batch(texts[600:])
        hit = (model(ids).argmax(-1) == tags)[tags != -100].float().mean()
    print(epoch, loss.item(), hit.item())
