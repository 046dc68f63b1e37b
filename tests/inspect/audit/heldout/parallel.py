"""Attention and map side by side as GPT-J has them, rotary on a part of each head, a cache as a list of pairs."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def rotate_every_two(x):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def apply_rotary(x, sin, cos):
    return x * cos + rotate_every_two(x) * sin


class GPTJAttention(nn.Module):
    def __init__(self, d, n_head, rotary_dim):
        super().__init__()
        self.n_head, self.head_dim, self.rotary_dim = n_head, d // n_head, rotary_dim
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d, bias=False) for _ in range(4))

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], self.n_head, self.head_dim)

    def forward(self, x, past=None):
        offset = 0 if past is None else past[0].shape[1]
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        inv = 1.0 / (10000 ** (torch.arange(0, self.rotary_dim, 2).float() / self.rotary_dim))
        angle = torch.outer(torch.arange(offset, offset + x.shape[1]).float(), inv).repeat_interleave(2, dim=-1)
        sin, cos = angle.sin()[None, :, None], angle.cos()[None, :, None]
        r = self.rotary_dim
        q = torch.cat([apply_rotary(q[..., :r], sin, cos), q[..., r:]], dim=-1)
        k = torch.cat([apply_rotary(k[..., :r], sin, cos), k[..., r:]], dim=-1)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        present = (k, v)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        w = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        t, s = w.shape[-2:]
        causal = torch.ones(s, s).tril()[s - t : s, :s].bool()
        w = torch.where(causal, w, torch.tensor(-1e9))
        a = F.softmax(w, dim=-1) @ v
        return self.out_proj(a.transpose(1, 2).reshape(x.shape)), present


class GPTJBlock(nn.Module):
    def __init__(self, d, n_head, rotary_dim):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(d), GPTJAttention(d, n_head, rotary_dim)
        self.fc_in, self.fc_out = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, past):
        h = self.ln_1(x)
        a, present = self.attn(h, past)
        return x + a + self.fc_out(F.gelu(self.fc_in(h))), present


class GPTJ(nn.Module):
    def __init__(self, vocab=55, d=48, n_head=3, rotary_dim=8, n_layer=2):
        super().__init__()
        self.wte = nn.Embedding(vocab, d)
        self.h = nn.ModuleList([GPTJBlock(d, n_head, rotary_dim) for _ in range(n_layer)])
        self.ln_f, self.lm_head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, input_ids, past_key_values=None):
        x, presents = self.wte(input_ids), []
        for i, block in enumerate(self.h):
            x, present = block(x, None if past_key_values is None else past_key_values[i])
            presents.append(present)
        return {"logits": self.lm_head(self.ln_f(x)), "past_key_values": presents}


def build():
    return {"model": GPTJ(), "batch": {"input_ids": torch.randint(55, (3, 13))}}
