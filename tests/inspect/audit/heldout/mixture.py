"""A GPT whose maps are experts: a router picks two of four for each token, a loop over the experts adds what they give."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Expert(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return self.w2(F.relu(self.w1(x)))


class SparseMoE(nn.Module):
    def __init__(self, d, n_experts=4, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.router = nn.Linear(d, n_experts)
        self.experts = nn.ModuleList([Expert(d) for _ in range(n_experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.size(-1))
        logits = self.router(flat)
        values, chosen = logits.topk(self.top_k, dim=-1)
        gates = F.softmax(values, dim=-1)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            hit = chosen == e
            weight = (gates * hit.float()).sum(dim=-1, keepdim=True)
            out = out + weight * expert(flat)
        return out.view_as(x)


class CausalSelfAttention(nn.Module):
    def __init__(self, d, n_head, block_size):
        super().__init__()
        self.n_head = n_head
        self.key, self.query, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.proj, self.dropout = nn.Linear(d, d), nn.Dropout(0.1)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = (f(x).view(B, T, self.n_head, -1).transpose(1, 2) for f in (self.key, self.query, self.value))
        wei = q @ k.transpose(-2, -1) * k.size(-1) ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return self.proj((wei @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, d, n_head, block_size):
        super().__init__()
        self.sa, self.smoe = CausalSelfAttention(d, n_head, block_size), SparseMoE(d)
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.smoe(self.ln2(x))


class SparseMoELanguageModel(nn.Module):
    def __init__(self, vocab=47, d=32, block_size=16, n_layer=2):
        super().__init__()
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(vocab, d), nn.Embedding(block_size, d)
        self.blocks = nn.Sequential(*[Block(d, 4, block_size) for _ in range(n_layer)])
        self.ln_f, self.lm_head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, idx, targets=None):
        T = idx.shape[1]
        x = self.token_embedding_table(idx) + self.position_embedding_table(torch.arange(T))
        logits = self.lm_head(self.ln_f(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


def build():
    text = torch.randint(47, (4, 17))
    return {"model": SparseMoELanguageModel(), "batch": (text[:, :-1], text[:, 1:])}
