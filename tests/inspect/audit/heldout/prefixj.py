"""A text whose beginning is given and may be seen whole, and whose rest is written from left to right: attention and map
abreast under one norm, a part of each head turned in pairs of neighbours, lengths of the beginnings next to the ids."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn


def fixed_pos_embedding(dim, length):
    inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
    angle = torch.einsum("i,j->ij", torch.arange(length).float(), inv_freq)
    return torch.sin(angle), torch.cos(angle)


def rotate_every_two(x):
    a, b = x[:, :, :, ::2], x[:, :, :, 1::2]
    return torch.stack((-b, a), dim=-1).flatten(-2)


def apply_rotary_pos_emb(x, sin, cos):
    sin, cos = (t.repeat_interleave(2, dim=-1)[None, :, None, :] for t in (sin, cos))
    return x * cos + rotate_every_two(x) * sin


class Attention(nn.Module):
    def __init__(self, n_embd, n_head, rotary_dim, p):
        super().__init__()
        self.n_head, self.head_dim, self.rotary_dim = n_head, n_embd // n_head, rotary_dim
        self.q_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.k_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.v_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.out_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.attn_dropout, self.resid_dropout = nn.Dropout(p), nn.Dropout(p)

    def split_heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, self.head_dim)

    def forward(self, x, visible):
        q, k, v = self.split_heads(self.q_proj(x)), self.split_heads(self.k_proj(x)), self.split_heads(self.v_proj(x))
        sin, cos = fixed_pos_embedding(self.rotary_dim, x.shape[1])
        r = self.rotary_dim
        k = torch.cat([apply_rotary_pos_emb(k[..., :r], sin, cos), k[..., r:]], dim=-1)
        q = torch.cat([apply_rotary_pos_emb(q[..., :r], sin, cos), q[..., r:]], dim=-1)
        q, k, v = q.permute(0, 2, 1, 3), k.permute(0, 2, 1, 3), v.permute(0, 2, 1, 3)
        w = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        w = torch.where(visible, w, torch.tensor(-1e9))
        w = self.attn_dropout(nn.functional.softmax(w, dim=-1))
        y = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous()
        return self.resid_dropout(self.out_proj(y.view(*y.shape[:-2], -1)))


class MLP(nn.Module):
    def __init__(self, n_embd, inner, p):
        super().__init__()
        self.fc_in, self.fc_out, self.dropout = nn.Linear(n_embd, inner), nn.Linear(inner, n_embd), nn.Dropout(p)

    def forward(self, x):
        return self.dropout(self.fc_out(F.gelu(self.fc_in(x))))


class Block(nn.Module):
    def __init__(self, n_embd, n_head, rotary_dim, p):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn, self.mlp = Attention(n_embd, n_head, rotary_dim, p), MLP(n_embd, 4 * n_embd, p)

    def forward(self, x, visible):
        residual = x
        x = self.ln_1(x)
        attn_output = self.attn(x, visible)
        feed_forward = self.mlp(x)
        return attn_output + feed_forward + residual


class PrefixLM(nn.Module):
    def __init__(self, vocab=59, n_embd=32, n_head=4, n_layer=3, rotary_dim=4, p=0.1):
        super().__init__()
        self.wte, self.drop = nn.Embedding(vocab, n_embd), nn.Dropout(p)
        self.h = nn.ModuleList([Block(n_embd, n_head, rotary_dim, p) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab)

    def forward(self, ids, prefix_lengths):
        T = ids.shape[1]
        at = torch.arange(T)
        causal = at[:, None] >= at[None, :]
        prefix = at[None, :] < prefix_lengths[:, None]
        visible = causal[None] | prefix[:, None, :]
        x = self.drop(self.wte(ids))
        for block in self.h:
            x = block(x, visible[:, None])
        logits = self.lm_head(self.ln_f(x))
        target = ids[:, 1:].masked_fill(prefix[:, 1:], -100)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), target.flatten(), ignore_index=-100)
        return logits, loss


def build():
    return {"model": PrefixLM(), "batch": (torch.randint(0, 59, (4, 13)), torch.tensor([3, 5, 2, 4]))}
