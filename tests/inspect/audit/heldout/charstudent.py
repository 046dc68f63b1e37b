"""A student's model of characters: PyTorch's encoder layers, sequences first, flat logits."""

import badak as torch
from badak import nn


class CharTransformer(nn.Module):
    def __init__(self, n_chars, hidden=32, heads=4, n_layers=2, max_len=40):
        super().__init__()
        self.hidden = hidden
        self.encoder = nn.Embedding(n_chars, hidden)
        self.position = nn.Embedding(max_len, hidden)
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(nn.TransformerEncoderLayer(hidden, heads, dim_feedforward=64, dropout=0.2))
        self.decoder = nn.Linear(hidden, n_chars)

    def make_mask(self, size):
        mask = (torch.triu(torch.ones(size, size)) == 1).transpose(0, 1)
        return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, 0.0)

    def forward(self, seq):
        # seq: (length, batch)
        mask = self.make_mask(seq.size(0))
        pos = torch.arange(seq.size(0)).unsqueeze(1)
        out = self.encoder(seq) + self.position(pos)
        for layer in self.layers:
            out = layer(out, src_mask=mask)
        out = self.decoder(out)
        return out.view(-1, out.size(2))


def build():
    return {"model": CharTransformer(38), "batch": torch.randint(38, (16, 5))}
