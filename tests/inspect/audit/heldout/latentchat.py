"""Chat with a latent of keys and values: what is remembered is the latent and one turned part that all heads share, experts
of which two answer a token next to one that always does, the first layer dense; the router's scores are sigmoids with a bias
for the choice alone."""

import badak as torch
import badak.nn.functional as F
from badak import nn

ARGS = dict(
    vocab=67,
    dim=32,
    n_layers=3,
    n_heads=4,
    q_rank=24,
    kv_rank=16,
    nope=8,
    rope=4,
    v_dim=8,
    inter=56,
    moe_inter=24,
    n_routed=4,
    n_active=2,
)


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-6)


def precompute(dim, end, base=10000.0):
    freqs = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
    t = torch.arange(end).float()
    return torch.outer(t, freqs)


def apply_rotary(x, angles):
    x1, x2 = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos()[None, :, None, :], angles.sin()[None, :, None, :]
    return torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1).flatten(-2)


class MLA(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a, self.n_heads = a, a["n_heads"]
        self.qk_dim = a["nope"] + a["rope"]
        self.wq_a, self.q_norm = nn.Linear(a["dim"], a["q_rank"], bias=False), RMSNorm(a["q_rank"])
        self.wq_b = nn.Linear(a["q_rank"], self.n_heads * self.qk_dim, bias=False)
        self.wkv_a, self.kv_norm = nn.Linear(a["dim"], a["kv_rank"] + a["rope"], bias=False), RMSNorm(a["kv_rank"])
        self.wkv_b = nn.Linear(a["kv_rank"], self.n_heads * (a["nope"] + a["v_dim"]), bias=False)
        self.wo = nn.Linear(self.n_heads * a["v_dim"], a["dim"], bias=False)
        self.softmax_scale = self.qk_dim**-0.5

    def forward(self, x, angles, mask, cache=None):
        bsz, seqlen, _ = x.size()
        q = self.wq_b(self.q_norm(self.wq_a(x))).view(bsz, seqlen, self.n_heads, self.qk_dim)
        q_nope, q_pe = torch.split(q, [self.a["nope"], self.a["rope"]], dim=-1)
        q_pe = apply_rotary(q_pe, angles)
        kv, k_pe = torch.split(self.wkv_a(x), [self.a["kv_rank"], self.a["rope"]], dim=-1)
        k_pe = apply_rotary(k_pe.unsqueeze(2), angles)
        kv = self.kv_norm(kv)
        if cache is not None:
            kv, k_pe = torch.cat([cache[0], kv], dim=1), torch.cat([cache[1], k_pe], dim=1)
        new_cache = (kv, k_pe)
        up = self.wkv_b(kv).view(bsz, -1, self.n_heads, self.a["nope"] + self.a["v_dim"])
        k_nope, v = torch.split(up, [self.a["nope"], self.a["v_dim"]], dim=-1)
        k = torch.cat([k_nope, k_pe.expand(-1, -1, self.n_heads, -1)], dim=-1)
        q = torch.cat([q_nope, q_pe], dim=-1)
        scores = torch.einsum("bshd,bthd->bsht", q, k) * self.softmax_scale
        scores = scores + mask.unsqueeze(1)
        scores = scores.softmax(dim=-1)
        x = torch.einsum("bsht,bthd->bshd", scores, v)
        return self.wo(x.flatten(2)), new_cache


class MLP(nn.Module):
    def __init__(self, dim, inter):
        super().__init__()
        self.w1, self.w2, self.w3 = (
            nn.Linear(dim, inter, bias=False),
            nn.Linear(inter, dim, bias=False),
            nn.Linear(dim, inter, bias=False),
        )

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Gate(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.topk = a["n_active"]
        self.weight = nn.Parameter(torch.randn(a["n_routed"], a["dim"]) * a["dim"] ** -0.5)
        self.register_buffer("bias", torch.zeros(a["n_routed"]))

    def forward(self, x):
        scores = torch.sigmoid(F.linear(x, self.weight))
        indices = torch.topk(scores + self.bias, self.topk, dim=-1)[1]
        weights = scores.gather(1, indices)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights, indices


class MoE(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.gate = Gate(a)
        self.experts = nn.ModuleList([MLP(a["dim"], a["moe_inter"]) for _ in range(a["n_routed"])])
        self.shared_experts = MLP(a["dim"], a["moe_inter"])

    def forward(self, x):
        shape = x.size()
        x = x.view(-1, shape[-1])
        weights, indices = self.gate(x)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            idx, top = torch.where(indices == i)
            y = y.index_add(0, idx, expert(x[idx]) * weights[idx, top, None])
        z = self.shared_experts(x)
        return (y + z).view(shape)


class Block(nn.Module):
    def __init__(self, layer_id, a):
        super().__init__()
        self.attn = MLA(a)
        self.ffn = MLP(a["dim"], a["inter"]) if layer_id < 1 else MoE(a)
        self.attn_norm, self.ffn_norm = RMSNorm(a["dim"]), RMSNorm(a["dim"])

    def forward(self, x, angles, mask, cache=None):
        h, cache = self.attn(self.attn_norm(x), angles, mask, cache)
        x = x + h
        x = x + self.ffn(self.ffn_norm(x))
        return x, cache


class Transformer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.embed = nn.Embedding(a["vocab"], a["dim"])
        self.layers = nn.ModuleList([Block(i, a) for i in range(a["n_layers"])])
        self.norm = RMSNorm(a["dim"])
        self.head = nn.Linear(a["dim"], a["vocab"], bias=False)
        self.register_buffer("angles", precompute(a["rope"], 64), persistent=False)

    def forward(self, tokens, caches=None):
        start = 0 if caches is None else caches[0][0].shape[1]
        seqlen = tokens.size(1)
        h = self.embed(tokens)
        angles = self.angles[start : start + seqlen]
        mask = torch.full((seqlen, start + seqlen), float("-inf")).triu_(start + 1)
        new = []
        for i, layer in enumerate(self.layers):
            h, cache = layer(h, angles, mask, None if caches is None else caches[i])
            new.append(cache)
        return self.head(self.norm(h)), new


def build():
    return {"model": Transformer(ARGS), "batch": (torch.randint(0, 67, (4, 11)),)}
