"""Fine-tuning a small chat model: prompts and answers in one row, padding behind them, only answers are asked for. Pre-norm, nn.MultiheadAttention."""

import badak as torch
from badak import nn
from badak.nn import functional as F

PAD = 0
IGNORE = -100


class FFN(nn.Module):
    def __init__(self, d, mult, p):
        super().__init__()
        self.up = nn.Linear(d, d * mult)
        self.down = nn.Linear(d * mult, d)
        self.p = nn.Dropout(p)

    def forward(self, x):
        return self.p(self.down(F.relu(self.up(x))))


class DecoderLayer(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.sa = nn.MultiheadAttention(d, h, dropout=p, batch_first=True)
        self.ffn = FFN(d, 4, p)
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.dr = nn.Dropout(p)

    def forward(self, x, attn_mask, pad_mask):
        y = self.n1(x)
        y = self.sa(y, y, y, attn_mask=attn_mask, key_padding_mask=pad_mask, need_weights=False)[0]
        x = x + self.dr(y)
        return x + self.ffn(self.n2(x))


class ChatModel(nn.Module):
    def __init__(self, vocab=95, d=36, h=3, n=2, ctx=40, p=0.1):
        super().__init__()
        self.wte = nn.Embedding(vocab, d, padding_idx=PAD)
        self.wpe = nn.Parameter(torch.randn(ctx, d) * 0.02)
        self.layers = nn.ModuleList(DecoderLayer(d, h, p) for _ in range(n))
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, vocab, bias=False)
        self.out.weight = self.wte.weight

    def forward(self, ids, labels=None):
        T = ids.size(1)
        future = torch.ones(T, T, dtype=torch.bool).triu(1)  # True = hidden
        pad = ids.eq(PAD)
        x = self.wte(ids) + self.wpe[:T]
        for layer in self.layers:
            x = layer(x, future, pad)
        logits = self.out(self.norm(x))
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=IGNORE)
            return logits, loss
        return logits


def collate(pairs):
    T = max(len(p) + len(a) for p, a in pairs)
    ids = torch.full((len(pairs), T), PAD)
    labels = torch.full((len(pairs), T), IGNORE)
    for i, (prompt, answer) in enumerate(pairs):
        n = len(prompt) + len(answer)
        ids[i, :n] = torch.cat([prompt, answer])
        labels[i, len(prompt) : n] = answer
    return ids, labels


def build():
    pairs = [(torch.randint(3, 95, (p,)), torch.randint(3, 95, (a,))) for p, a in ((6, 9), (4, 8), (7, 5), (3, 7))]
    ids, labels = collate(pairs)
    model = ChatModel()
    return {"model": model, "batch": {"ids": ids, "labels": labels}, "optimizer": torch.optim.AdamW(model.parameters(), lr=1e-4)}
