"""A language model of two chosen experts in each block, with a balance of the router in its loss; nn.MultiheadAttention."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Router(nn.Module):
    def __init__(self, width, experts, k):
        super().__init__()
        self.gate, self.k = nn.Linear(width, experts, bias=False), k

    def forward(self, x):
        logits = self.gate(x)
        value, index = logits.topk(self.k, dim=-1)
        return value.softmax(dim=-1), index, logits.softmax(dim=-1)


class SparseMLP(nn.Module):
    def __init__(self, width, experts, k):
        super().__init__()
        self.router = Router(width, experts, k)
        self.experts = nn.ModuleList([Expert(width) for _ in range(experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.size(-1))
        weight, index, probs = self.router(flat)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            row, slot = torch.where(index == e)
            if len(row):
                out = out.index_add(0, row, weight[row, slot].unsqueeze(-1) * expert(flat[row]))
        load = F.one_hot(index, len(self.experts)).float().sum(1).mean(0)
        balance = len(self.experts) * (load * probs.mean(0)).sum()
        return out.view_as(x), balance


class Block(nn.Module):
    def __init__(self, width, heads, experts, k):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.moe = SparseMLP(width, experts, k)

    def forward(self, x, mask):
        h = self.ln_1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        y, balance = self.moe(self.ln_2(x))
        return x + y, balance


class MoEGPT(nn.Module):
    def __init__(self, vocab=59, width=32, heads=4, depth=2, experts=4, k=2, context=32):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads, experts, k) for _ in range(depth)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        t = inputs.size(1)
        x = self.wte(inputs) + self.wpe(torch.arange(t))
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        total = 0.0
        for block in self.blocks:
            x, balance = block(x, mask)
            total = total + balance
        logits = self.lm_head(self.ln_f(x))
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
        return {"loss": loss + 0.01 * total, "logits": logits}


def build():
    return {"model": MoEGPT(), "batch": torch.randint(59, (4, 14))}
