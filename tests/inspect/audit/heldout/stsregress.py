"""How alike are two sentences, from 0 to 5?  Both in one text with segments, nn.TransformerEncoder, mean and greatest of the words."""

import badak as torch
from badak import nn
from badak.nn import functional as F

VOCAB, PAD, CLS, SEP = 130, 0, 1, 2


class InputEmbedding(nn.Module):
    def __init__(self, dim, max_len, p):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(max_len, dim)
        self.norm = nn.LayerNorm(dim)
        self.drop = nn.Dropout(p)

    def forward(self, ids, segments):
        positions = torch.arange(ids.size(1), device=ids.device)[None, :]
        x = self.token(ids) + self.segment(segments) + self.position(positions)
        return self.drop(self.norm(x))


class CrossEncoder(nn.Module):
    def __init__(self, dim=36, heads=4, layers=2, max_len=40, p=0.1):
        super().__init__()
        self.embed = InputEmbedding(dim, max_len, p)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, p, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.regressor = nn.Sequential(nn.Dropout(p), nn.Linear(dim * 2, dim), nn.ReLU(), nn.Linear(dim, 1))
        for weight in self.encoder.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)

    def forward(self, ids, segments):
        pad = ids == PAD
        h = self.encoder(self.embed(ids, segments), src_key_padding_mask=pad)
        words = (~pad).unsqueeze(-1)
        mean = (h * words).sum(1) / words.sum(1).clamp(min=1)
        peak = h.masked_fill(~words, float("-inf")).amax(dim=1)
        score = self.regressor(torch.cat([mean, peak], dim=-1)).squeeze(-1)
        return 5.0 * torch.sigmoid(score)


def pack(first, second, width):
    ids = torch.full((len(first), width), PAD)
    segments = torch.zeros(len(first), width, dtype=torch.long)
    for i, (a, b) in enumerate(zip(first, second)):
        row = torch.cat([torch.tensor([CLS]), a, torch.tensor([SEP]), b, torch.tensor([SEP])])
        ids[i, : len(row)] = row
        segments[i, len(a) + 2 : len(row)] = 1
    return ids, segments


def build():
    word = lambda n: torch.randint(3, VOCAB, (n,))
    ids, segments = pack([word(n) for n in (5, 4, 6, 3)], [word(n) for n in (6, 4, 3, 5)], 14)
    gold = torch.tensor([4.2, 0.8, 3.0, 2.4])
    model = CrossEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    return {
        "model": model,
        "batch": {"ids": ids, "segments": segments},
        "loss": lambda y: F.mse_loss(y, gold),
        "optimizer": optimizer,
    }
