"""A text from left to right without an attention of products: a memory of outer products for each head that is overwritten by
the delta rule, keys and queries of length one, short convolutions in front, a decay that the token chooses; labels beside the
ids."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class ShortConv(nn.Module):
    def __init__(self, dim, width=4):
        super().__init__()
        self.width = width
        self.conv = nn.Conv1d(dim, dim, width, groups=dim)

    def forward(self, x):
        y = F.pad(x.transpose(1, 2), (self.width - 1, 0))
        return F.silu(self.conv(y)).transpose(1, 2)


class DeltaMixer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.q_conv, self.k_conv, self.v_conv = ShortConv(dim), ShortConv(dim), ShortConv(dim)
        self.b_proj = nn.Linear(dim, heads)
        self.a_proj = nn.Linear(dim, heads)
        self.g_proj = nn.Linear(dim, dim, bias=False)
        self.o_norm = RMSNorm(self.d)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_conv(self.q_proj(x)).view(B, T, self.heads, self.d)
        k = self.k_conv(self.k_proj(x)).view(B, T, self.heads, self.d)
        v = self.v_conv(self.v_proj(x)).view(B, T, self.heads, self.d)
        q = F.normalize(q, dim=-1)
        k = F.normalize(k, dim=-1)
        beta = torch.sigmoid(self.b_proj(x))
        decay = torch.exp(-F.softplus(self.a_proj(x)))
        S = x.new_zeros(B, self.heads, self.d, self.d)
        outs = []
        for t in range(T):
            q_t, k_t, v_t = q[:, t], k[:, t], v[:, t]
            S = S * decay[:, t, :, None, None]
            old = torch.einsum("bhkv,bhk->bhv", S, k_t)
            new = beta[:, t, :, None] * (v_t - old)
            S = S + torch.einsum("bhk,bhv->bhkv", k_t, new)
            outs.append(torch.einsum("bhkv,bhk->bhv", S, q_t))
        o = torch.stack(outs, dim=1)
        o = self.o_norm(o) * F.silu(self.g_proj(x)).view(B, T, self.heads, self.d)
        return self.o_proj(o.reshape(B, T, C))


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 2 * hidden, bias=False), nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        gate, value = self.up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * value)


class DeltaBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.mixer_norm, self.mixer = RMSNorm(dim), DeltaMixer(dim, heads)
        self.mlp_norm, self.mlp = RMSNorm(dim), SwiGLU(dim, 48)

    def forward(self, x):
        x = x + self.mixer(self.mixer_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class DeltaNetForCausalLM(nn.Module):
    def __init__(self, vocab_size=61, dim=32, heads=4, n_layers=3):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, dim)
        self.layers = nn.ModuleList([DeltaBlock(dim, heads) for _ in range(n_layers)])
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)
        self.lm_head.weight = self.embeddings.weight
        nn.init.normal_(self.embeddings.weight, std=0.02)

    def forward(self, input_ids, labels=None):
        hidden = self.embeddings(input_ids)
        for layer in self.layers:
            hidden = layer(hidden)
        logits = self.lm_head(self.norm(hidden))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1))
        return {"loss": loss, "logits": logits}


def build():
    ids = torch.randint(0, 61, (4, 12))
    return {"model": DeltaNetForCausalLM(), "batch": {"input_ids": ids, "labels": ids.clone()}}
