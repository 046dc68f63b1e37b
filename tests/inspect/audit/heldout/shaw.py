"""A language model with relative positions after Shaw: distances have vectors of their own, for keys; GPT-2's Conv1D as maps."""

import math

import badak as torch
from badak import nn


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight, self.bias = nn.Parameter(torch.empty(nx, nf).normal_(std=0.05)), nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.nf)


class RelativeAttention(nn.Module):
    def __init__(self, nx, n_head, reach=10):
        super().__init__()
        self.c_attn, self.c_proj, self.n_head, self.reach = Conv1D(3 * nx, nx), Conv1D(nx, nx), n_head, reach
        self.distance = nn.Embedding(reach + 1, nx // n_head)
        self.attn_dropout = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        query, key, value = self.c_attn(x).split(c, dim=2)
        query, key, value = (z.view(b, t, self.n_head, c // self.n_head).permute(0, 2, 1, 3) for z in (query, key, value))
        gap = (torch.arange(t)[:, None] - torch.arange(t)[None, :]).clamp(0, self.reach)
        w = torch.matmul(query, key.transpose(-1, -2))
        w = w + torch.einsum("bhid,ijd->bhij", query, self.distance(gap))
        w = w / math.sqrt(value.size(-1))
        causal = torch.tril(torch.ones(t, t)).view(1, 1, t, t)
        w = w * causal - 1e4 * (1 - causal)
        a = torch.matmul(self.attn_dropout(nn.Softmax(dim=-1)(w)), value)
        a = a.permute(0, 2, 1, 3).contiguous().view(b, t, c)
        return self.c_proj(a)


class Block(nn.Module):
    def __init__(self, nx, n_head):
        super().__init__()
        self.ln_1, self.ln_2, self.attn = nn.LayerNorm(nx), nn.LayerNorm(nx), RelativeAttention(nx, n_head)
        self.c_fc, self.c_out, self.act = Conv1D(4 * nx, nx), Conv1D(nx, 4 * nx), nn.GELU()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_out(self.act(self.c_fc(self.ln_2(x))))


class RelativeLM(nn.Module):
    def __init__(self, vocab=50, nx=32, n_head=4, n_layer=2):
        super().__init__()
        self.wte, self.drop = nn.Embedding(vocab, nx), nn.Dropout(0.1)
        self.h, self.ln_f = nn.ModuleList(Block(nx, n_head) for _ in range(n_layer)), nn.LayerNorm(nx)
        self.head = nn.Linear(nx, vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids):
        x = self.drop(self.wte(ids))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


def build():
    return {"model": RelativeLM(), "batch": torch.randint(50, (4, 14))}
