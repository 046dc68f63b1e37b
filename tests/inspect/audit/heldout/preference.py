"""Tuning by preferences (DPO): a chosen and a rejected answer to each prompt, log-probabilities of the answers by gather, a decoder with ALiBi."""

import math

import badak as torch
import badak.nn as nn
import badak.nn.functional as F


def alibi_slopes(n_heads):
    start = 2 ** (-8.0 / n_heads)
    return torch.tensor([start ** (i + 1) for i in range(n_heads)])


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.Wqkv = nn.Linear(dim, 3 * dim)
        self.Wo = nn.Linear(dim, dim)
        self.register_buffer("slopes", alibi_slopes(heads), persistent=False)

    def forward(self, x, pad):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, self.heads, self.hd).permute(2, 0, 3, 1, 4)
        att = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.hd)
        distance = torch.arange(T)[None, :] - torch.arange(T)[:, None]
        att = att + self.slopes[:, None, None] * distance
        hidden = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)[None, None] | pad[:, None, None, :]
        att = att.masked_fill(hidden, -1e9)
        y = torch.matmul(F.softmax(att, dim=-1), v)
        return self.Wo(y.transpose(1, 2).reshape(B, T, C))


class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads)
        self.ffn = nn.ModuleDict({"up": nn.Linear(dim, 3 * dim), "down": nn.Linear(3 * dim, dim)})
        self.drop = nn.Dropout(p)

    def forward(self, x, pad):
        x = x + self.drop(self.attn(self.norm_1(x), pad))
        h = self.ffn["down"](F.gelu(self.ffn["up"](self.norm_2(x))))
        return x + self.drop(h)


class Policy(nn.Module):
    def __init__(self, vocab=83, dim=32, heads=4, depth=2, p=0.1, pad_token_id=0):
        super().__init__()
        self.pad_token_id = pad_token_id
        self.wte = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([DecoderBlock(dim, heads, p) for _ in range(depth)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids):
        pad = input_ids == self.pad_token_id
        x = self.wte(input_ids)
        for block in self.blocks:
            x = block(x, pad)
        return self.lm_head(self.ln_f(x))


def get_batch_logps(logits, labels):
    labels = labels[:, 1:].clone()
    logits = logits[:, :-1, :]
    loss_mask = labels != -100
    labels[labels == -100] = 0
    per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token_logps * loss_mask).sum(-1)


def concatenated(prompts, chosen, rejected):
    rows = [torch.cat([p, c]) for p, c in zip(prompts, chosen)] + [torch.cat([p, r]) for p, r in zip(prompts, rejected)]
    T = max(len(r) for r in rows)
    ids, labels = torch.zeros(len(rows), T, dtype=torch.long), torch.full((len(rows), T), -100)
    for i, row in enumerate(rows):
        n = len(prompts[i % len(prompts)])
        ids[i, : len(row)] = row
        labels[i, n : len(row)] = row[n:]
    return ids, labels


def build():
    draw = lambda n: torch.randint(1, 83, (n,))
    prompts = [draw(n) for n in (5, 4, 6)]
    ids, labels = concatenated(prompts, [draw(n) for n in (8, 7, 5)], [draw(n) for n in (6, 9, 4)])
    model = Policy()
    reference = torch.randn(6) * 0.1 - 30.0  # what the model before the tuning gave
    beta = 0.1

    def dpo_loss(logits):
        logps = get_batch_logps(logits, labels) - reference
        chosen, rejected = logps[:3], logps[3:]
        return -F.logsigmoid(beta * (chosen - rejected)).mean()

    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-7)
    return {"model": model, "batch": ids, "loss": dpo_loss, "optimizer": optimizer}
