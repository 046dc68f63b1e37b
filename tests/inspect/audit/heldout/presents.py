"""A GPT of one file that gives (logits, presents): sinusoids for positions, one product for all three, a cache of its own."""

import math

import badak as torch
from badak import nn


def sinusoids(length, channels):
    inverse = torch.exp(-math.log(10000.0) / (channels // 2) * torch.arange(channels // 2).float())
    angles = torch.arange(length).float()[:, None] * inverse[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class SelfAttention(nn.Module):
    def __init__(self, nx, n_head, n_ctx):
        super().__init__()
        self.n_head = n_head
        self.c_attn, self.c_proj = nn.Linear(nx, 3 * nx), nn.Linear(nx, nx)
        self.register_buffer("bias", torch.tril(torch.ones(n_ctx, n_ctx)).view(1, 1, n_ctx, n_ctx))

    def split_heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, x.shape[-1] // self.n_head).permute(0, 2, 1, 3)

    def forward(self, x, past=None):
        q, k, v = (self.split_heads(each) for each in self.c_attn(x).split(x.shape[-1], dim=2))
        if past is not None:
            k, v = torch.cat((past[0], k), dim=-2), torch.cat((past[1], v), dim=-2)
        w = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(v.shape[-1])
        nd, ns = w.shape[-2], w.shape[-1]
        b = self.bias[:, :, ns - nd : ns, :ns]
        w = w * b - 1e10 * (1 - b)
        a = torch.matmul(torch.softmax(w, dim=-1), v)
        a = a.permute(0, 2, 1, 3).contiguous()
        return self.c_proj(a.view(*a.shape[:-2], -1)), (k, v)


class Block(nn.Module):
    def __init__(self, nx, n_head, n_ctx):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(nx), nn.LayerNorm(nx)
        self.attn = SelfAttention(nx, n_head, n_ctx)
        self.c_fc, self.c_proj = nn.Linear(nx, 4 * nx), nn.Linear(4 * nx, nx)

    def forward(self, x, past=None):
        a, present = self.attn(self.ln_1(x), past)
        x = x + a
        m = self.c_proj(nn.functional.gelu(self.c_fc(self.ln_2(x))))
        return x + m, present


class LMHead(nn.Module):
    def __init__(self, n_vocab=57, n_embd=32, n_head=4, n_layer=3, n_ctx=32):
        super().__init__()
        self.wte = nn.Embedding(n_vocab, n_embd)
        self.register_buffer("wpe", sinusoids(n_ctx, n_embd))
        self.h = nn.ModuleList([Block(n_embd, n_head, n_ctx) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)

    def forward(self, input_ids, past_key_values=None):
        start = 0 if past_key_values is None else past_key_values[0][0].shape[-2]
        x = self.wte(input_ids) + self.wpe[start : start + input_ids.shape[1]]
        presents = []
        for i, block in enumerate(self.h):
            x, present = block(x, None if past_key_values is None else past_key_values[i])
            presents.append(present)
        x = self.ln_f(x)
        return x @ self.wte.weight.t(), presents


def build():
    return {"model": LMHead(), "batch": torch.randint(57, (3, 12))}
