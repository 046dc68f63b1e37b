"""Several documents in one row: places begin anew with each, and none sees another; maps laid out as in GPT-2, queries, keys and
values from one; the loss leaves out what crosses a border."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.08)

    def forward(self, x):
        size_out = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return x.view(size_out)


class PackedAttention(nn.Module):
    def __init__(self, n_embd, n_head, p):
        super().__init__()
        self.n_head, self.split_size = n_head, n_embd
        self.c_attn, self.c_proj = Conv1D(3 * n_embd, n_embd), Conv1D(n_embd, n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(p), nn.Dropout(p)

    def split_heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, -1).permute(0, 2, 1, 3)

    def merge_heads(self, x):
        x = x.permute(0, 2, 1, 3).contiguous()
        return x.view(*x.shape[:-2], -1)

    def forward(self, x, allowed):
        query, key, value = (self.split_heads(part) for part in self.c_attn(x).split(self.split_size, dim=2))
        w = query @ key.transpose(-1, -2) / math.sqrt(value.size(-1))
        w = torch.where(allowed, w, torch.full_like(w, -1e4))
        w = self.attn_dropout(F.softmax(w, dim=-1))
        return self.resid_dropout(self.c_proj(self.merge_heads(w @ value)))


class PackedMLP(nn.Module):
    def __init__(self, n_embd, p):
        super().__init__()
        self.c_fc, self.c_proj, self.dropout = Conv1D(4 * n_embd, n_embd), Conv1D(n_embd, 4 * n_embd), nn.Dropout(p)

    def forward(self, x):
        return self.dropout(self.c_proj(F.gelu(self.c_fc(x), approximate="tanh")))


class PackedBlock(nn.Module):
    def __init__(self, n_embd, n_head, p):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(n_embd), PackedAttention(n_embd, n_head, p)
        self.ln_2, self.mlp = nn.LayerNorm(n_embd), PackedMLP(n_embd, p)

    def forward(self, x, allowed):
        x = x + self.attn(self.ln_1(x), allowed)
        return x + self.mlp(self.ln_2(x))


class PackedGPT(nn.Module):
    def __init__(self, vocab=49, n_positions=16, n_embd=32, n_layer=3, n_head=4, p=0.1):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, n_embd), nn.Embedding(n_positions, n_embd)
        self.drop = nn.Dropout(p)
        self.h = nn.ModuleList([PackedBlock(n_embd, n_head, p) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids, position_ids, document_ids):
        t = input_ids.shape[1]
        same = document_ids[:, :, None] == document_ids[:, None, :]
        allowed = (same & torch.ones(t, t, dtype=torch.bool).tril())[:, None]
        x = self.drop(self.wte(input_ids) + self.wpe(position_ids))
        for block in self.h:
            x = block(x, allowed)
        logits = self.lm_head(self.ln_f(x))
        labels = input_ids[:, 1:].masked_fill(document_ids[:, 1:] != document_ids[:, :-1], -100)
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=-100)
        return loss, logits


def build():
    ids = torch.randint(0, 49, (4, 15))
    lengths = ((5, 10), (8, 7), (15,), (4, 6, 5))
    places = torch.stack([torch.cat([torch.arange(n) for n in row]) for row in lengths])
    documents = torch.stack([torch.cat([torch.full((n,), i) for i, n in enumerate(row)]) for row in lengths])
    return {"model": PackedGPT(), "batch": {"input_ids": ids, "position_ids": places, "document_ids": documents}}
