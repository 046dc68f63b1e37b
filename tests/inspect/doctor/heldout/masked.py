"""A BERT: 15 words of 100 are hidden and asked for, all others are no labels (-100)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
PAD, MASK, V, LENGTH = 0, 1, 50, 16


class Bert(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(V, d), nn.Embedding(LENGTH, d), nn.LayerNorm(d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.transform = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d))
        self.bias = nn.Parameter(torch.zeros(V))
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, ids):
        h = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        h = self.encoder(h, src_key_padding_mask=ids.eq(PAD))
        return self.transform(h) @ self.words.weight.t() + self.bias


def batch():
    ids = (torch.randint(2, V, (8, 1)) + torch.arange(LENGTH)) % (V - 2) + 2
    ids[torch.arange(LENGTH) >= torch.randint(8, LENGTH + 1, (8, 1))] = PAD
    chosen = (torch.rand(ids.shape) < 0.3) & (ids != PAD)
    labels = torch.where(chosen, ids, torch.tensor(-100))
    return torch.where(chosen & (torch.rand(ids.shape) < 0.8), torch.tensor(MASK), ids), labels


bert = Bert()
opt = torch.optim.AdamW(bert.parameters(), lr=1e-3, weight_decay=0.01)
for it in range(40):
    ids, labels = batch()
    prediction = bert(ids)
    loss = F.cross_entropy(prediction.transpose(1, 2), labels)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 9 == 8:
        bert.eval()
        with torch.no_grad():
            ids, labels = batch()
            print(it, F.cross_entropy(bert(ids).transpose(1, 2), labels).item())
        bert.train()
