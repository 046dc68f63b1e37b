"""A GPT with its own config, heads by einsum, a cache in a list, positions as a parameter."""

from dataclasses import dataclass

import badak as torch
import badak.nn.functional as F
from badak import nn


@dataclass
class GPTConfig:
    block_size: int = 24
    vocab_size: int = 41
    n_layer: int = 3
    n_head: int = 4
    n_embd: int = 32


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h, self.d = cfg.n_head, cfg.n_embd // cfg.n_head
        self.to_q = nn.Linear(cfg.n_embd, cfg.n_embd, bias=False)
        self.to_kv = nn.Linear(cfg.n_embd, 2 * cfg.n_embd, bias=False)
        self.to_out = nn.Linear(cfg.n_embd, cfg.n_embd)
        self.attn_drop = nn.Dropout(0.1)

    def forward(self, x, layer_past=None):
        b, t, c = x.size()
        q = self.to_q(x).reshape(b, t, self.h, self.d)
        k, v = self.to_kv(x).chunk(2, dim=-1)
        k, v = k.reshape(b, t, self.h, self.d), v.reshape(b, t, self.h, self.d)
        if layer_past is not None:
            k = torch.cat([layer_past[0], k], dim=1)
            v = torch.cat([layer_past[1], v], dim=1)
        present = (k, v)
        sim = torch.einsum("bthd,bshd->bhts", q, k) * self.d**-0.5
        s = k.size(1)
        mask = torch.ones(t, s, dtype=torch.bool).triu(s - t + 1)
        sim = sim.masked_fill(mask, -torch.finfo(sim.dtype).max)
        attn = self.attn_drop(sim.softmax(dim=-1))
        out = torch.einsum("bhts,bshd->bthd", attn, v)
        return self.to_out(out.reshape(b, t, c)), present


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.n_embd), nn.LayerNorm(cfg.n_embd)
        self.attn = SelfAttention(cfg)
        self.ff = nn.Sequential(nn.Linear(cfg.n_embd, 96), nn.GELU(), nn.Linear(96, cfg.n_embd), nn.Dropout(0.1))

    def forward(self, x, past=None):
        a, present = self.attn(self.ln1(x), past)
        x = x + a
        x = x + self.ff(self.ln2(x))
        return x, present


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok_emb = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.pos_emb = nn.Parameter(torch.zeros(1, cfg.block_size, cfg.n_embd))
        self.drop = nn.Dropout(0.1)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.n_layer)])
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.head = nn.Linear(cfg.n_embd, cfg.vocab_size, bias=False)
        self.apply(self._init_weights)
        nn.init.normal_(self.pos_emb, std=0.02)

    def _init_weights(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, mean=0.0, std=0.02)

    def forward(self, idx, past_key_values=None, targets=None):
        b, t = idx.size()
        start = 0 if past_key_values is None else past_key_values[0][0].size(1)
        x = self.drop(self.tok_emb(idx) + self.pos_emb[:, start : start + t])
        presents = []
        for i, block in enumerate(self.blocks):
            x, present = block(x, None if past_key_values is None else past_key_values[i])
            presents.append(present)
        logits = self.head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return {"logits": logits, "loss": loss, "past_key_values": presents}


def build():
    model = GPT(GPTConfig())
    return {"model": model, "batch": (torch.randint(41, (4, 14)),), "kind": None}
