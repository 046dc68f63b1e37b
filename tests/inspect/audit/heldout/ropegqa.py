"""A decoder with grouped heads and rotary positions of halves, of a part of each head; gate and up in one map."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class GroupedAttention(nn.Module):
    def __init__(self, d, heads, groups, rotary_dim):
        super().__init__()
        self.heads, self.groups, self.size, self.rotary_dim = heads, groups, d // heads, rotary_dim
        self.q_proj = nn.Linear(d, heads * self.size, bias=False)
        self.kv_proj = nn.Linear(d, 2 * groups * self.size, bias=False)
        self.o_proj = nn.Linear(d, d, bias=False)

    def turn(self, x, cos, sin):
        part, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        return torch.cat((part * cos + rotate_half(part) * sin, rest), dim=-1)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.size).transpose(1, 2)
        k, v = self.kv_proj(x).view(b, t, 2, self.groups, self.size).permute(2, 0, 3, 1, 4)
        q, k = self.turn(q, cos, sin), self.turn(k, cos, sin)
        n = self.heads // self.groups
        k = k[:, :, None].expand(b, self.groups, n, t, self.size).reshape(b, self.heads, t, self.size)
        v = v[:, :, None].expand(b, self.groups, n, t, self.size).reshape(b, self.heads, t, self.size)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))


class GatedMLP(nn.Module):
    def __init__(self, d, inner):
        super().__init__()
        self.gate_up, self.down = nn.Linear(d, 2 * inner, bias=False), nn.Linear(inner, d, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class DecoderLayer(nn.Module):
    def __init__(self, d, heads, groups, rotary_dim):
        super().__init__()
        self.self_attn, self.mlp = GroupedAttention(d, heads, groups, rotary_dim), GatedMLP(d, 2 * d)
        self.input_norm, self.post_norm = Norm(d), Norm(d)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_norm(x), cos, sin)
        return x + self.mlp(self.post_norm(x))


class Decoder(nn.Module):
    def __init__(self, vocab=71, d=48, heads=6, groups=2, depth=3, rotary_dim=4, longest=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(DecoderLayer(d, heads, groups, rotary_dim) for _ in range(depth))
        self.norm, self.lm_head = Norm(d), nn.Linear(d, vocab, bias=False)
        inverse = 1.0 / 10000 ** (torch.arange(0, rotary_dim, 2).float() / rotary_dim)
        angles = torch.arange(longest).float()[:, None] * inverse
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos()), self.register_buffer("sin", angles.sin())

    def forward(self, ids):
        t = ids.size(1)
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos[:t], self.sin[:t])
        return {"last_hidden_state": x, "logits": self.lm_head(self.norm(x))}


def build():
    return {"model": Decoder(), "batch": {"ids": torch.randint(71, (3, 14))}}
