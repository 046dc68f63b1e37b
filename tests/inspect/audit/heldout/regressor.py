"""Houses as tokens: each column a token, numbers and categories side by side; gives one number for each row."""

import badak as torch
from badak import nn


class FeatureTokenizer(nn.Module):
    def __init__(self, n_num, cardinalities, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(n_num, d) * 0.3), nn.Parameter(torch.randn(n_num, d) * 0.3)
        self.cat = nn.ModuleList([nn.Embedding(c, d) for c in cardinalities])
        self.cls = nn.Parameter(torch.randn(1, 1, d) * 0.3)

    def forward(self, x_num, x_cat):
        tokens = [self.cls.expand(len(x_num), 1, -1), x_num[:, :, None] * self.weight + self.bias]
        tokens += [emb(x_cat[:, i]).unsqueeze(1) for i, emb in enumerate(self.cat)]
        return torch.cat(tokens, dim=1)


class FTBlock(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(d), nn.MultiheadAttention(d, h, dropout=0.1, batch_first=True)
        self.ln2, self.ffn = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, d))

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ffn(self.ln2(x))


class FTTransformer(nn.Module):
    def __init__(self, n_num=7, cardinalities=(4, 6, 3), d=32, h=4, depth=2):
        super().__init__()
        self.tokenizer = FeatureTokenizer(n_num, cardinalities, d)
        self.blocks = nn.ModuleList(FTBlock(d, h) for _ in range(depth))
        self.head = nn.Sequential(nn.LayerNorm(d), nn.ReLU(), nn.Linear(d, 1))

    def forward(self, x_num, x_cat):
        x = self.tokenizer(x_num, x_cat)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0]).squeeze(-1)


def build():
    cat = torch.stack([torch.randint(4, (8,)), torch.randint(6, (8,)), torch.randint(3, (8,))], dim=1)
    return {"model": FTTransformer(), "batch": (torch.randn(8, 7), cat)}
