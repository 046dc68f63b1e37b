"""Programs whose tensors lie otherwise than (B, T, C), or that read more than a text; `fault` says what each does wrong."""

import math
from dataclasses import dataclass
from typing import Any

import badak
from badak import nn
from badak.nn import functional as F

V, T, B, C, H = 37, 11, 3, 32, 4
AXES = {"softmax over rows": 0, "softmax over heads": 1, "softmax over queries": 2}


@dataclass
class Output:
    logits: Any
    hidden: Any


class TimeFirstAttention(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.q, self.k, self.v, self.o = (nn.Linear(C, C, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (each(x).unflatten(-1, (H, C // H)) for each in (self.q, self.k, self.v))
        scores = badak.einsum("ibhd,jbhd->bhij", q, k) / math.sqrt(C // H)
        if self.fault != "no mask":
            scores = scores.masked_fill(badak.ones(len(x), len(x)).triu(1).bool(), -1e9)
        weights = scores.softmax(AXES.get(self.fault, -1))
        return self.o(badak.einsum("bhij,jbhd->ibhd", weights, v).flatten(2))


class TimeFirstBlock(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault, self.norm1, self.norm2, self.attention = (
            fault,
            nn.LayerNorm(C),
            nn.LayerNorm(C),
            TimeFirstAttention(fault),
        )
        self.mlp = nn.Sequential(nn.Linear(C, 48), nn.GELU(), nn.Linear(48, C))

    def forward(self, x):
        y = self.attention(self.norm1(x))
        x = y if self.fault == "no residual" else x + y
        if self.fault == "mean of rows":
            x = x - x.mean(1, keepdim=True)
        return x + self.mlp(self.norm2(x))


class TimeFirst(nn.Module):
    """(T, B, C) by einsum, without a layer that says batch_first."""

    def __init__(self, fault=""):
        super().__init__()
        self.fault, self.table, self.place = fault, nn.Embedding(V, C), nn.Parameter(badak.randn(16, 1, C))
        self.blocks = nn.ModuleList(TimeFirstBlock(fault if i == 1 else "") for i in range(3))
        if fault == "frozen":
            self.blocks[1].requires_grad_(False)
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, V)

    def forward(self, ids):
        place = self.place[: ids.shape[1]].transpose(0, 1) if self.fault == "positions of rows" else self.place[: len(ids)]
        x = self.table(ids) + (place * 0 if self.fault == "no positions" else place)
        for block in self.blocks:
            x = block(x)
        return Output(self.head(self.norm(x)), x)


def time_first(fault=""):
    return TimeFirst(fault), (badak.randint(V, (T, B)),)


class Recurrent(nn.Module):
    """A recurrence of its own over the first axis: nothing but what it keeps apart says which axis is the batch."""

    def __init__(self, fault=""):
        super().__init__()
        self.fault, self.table, self.gate, self.into, self.head = (
            fault,
            nn.Embedding(V, C),
            nn.Linear(C, C),
            nn.Linear(C, C),
            nn.Linear(C, V),
        )

    def forward(self, ids):
        x = self.table(ids)
        gate, new = self.gate(x).sigmoid(), self.into(x)
        h, all_of_them = badak.zeros(ids.shape[1], C), []
        for t in range(len(ids)):
            h = gate[t] * h + (1 - gate[t]) * new[t]
            all_of_them.append(h.roll(1, 0) if self.fault == "rows rolled" else h)
            h = all_of_them[-1]
        return self.head(badak.stack(all_of_them))


def recurrent(fault=""):
    return Recurrent(fault), (badak.randint(V, (T, B)),)


class SeriesBlock(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault, self.attention, self.norm, self.mlp = (
            fault,
            nn.MultiheadAttention(C, H),
            nn.LayerNorm(C),
            nn.Linear(C, C),
        )

    def forward(self, x, mask):
        h = self.norm(x)
        if self.fault == "over the rows":
            h = h.transpose(0, 1)
            return x + self.attention(h, h, h, need_weights=False)[0].transpose(0, 1)
        y = self.attention(h, h, h, attn_mask=None if self.fault == "no mask" else mask, need_weights=False)[0]
        return x + F.gelu(self.mlp(x + y))


class Series(nn.Module):
    """Numbers (T, B, D), as nn.TransformerEncoder has them unless it is told."""

    def __init__(self, fault=""):
        super().__init__()
        self.fault, self.into, self.out = fault, nn.Linear(5, C), nn.Linear(C, 5)
        self.place, self.blocks = (
            nn.Parameter(badak.randn(16, 1, C)),
            nn.ModuleList(SeriesBlock(fault if i == 1 else "") for i in range(2)),
        )

    def forward(self, x):
        place = self.place[: x.shape[1]].transpose(0, 1) if self.fault == "positions of rows" else self.place[: len(x)]
        h = self.into(x) + place
        for block in self.blocks:
            h = block(h, nn.Transformer.generate_square_subsequent_mask(len(x)))
        return self.out(h)


def series(fault=""):
    return Series(fault), (badak.randn(T, B, 5),)


class Twin(nn.Module):
    """Pictures next to texts, each row compared with each; gives its loss, or vectors and what they have in common."""

    def __init__(self, fault="", loss=True):
        super().__init__()
        self.fault, self.loss, self.table, self.place = fault, loss, nn.Embedding(V, C), nn.Embedding(16, C)
        self.text = nn.TransformerEncoderLayer(C, H, 48, 0.1, batch_first=True, norm_first=True)
        self.image, self.project = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), Pooled(fault)), nn.Linear(C, 16)

    def forward(self, pictures, ids):
        pad = ids == 0
        x = self.table(ids) + self.place(badak.arange(ids.shape[1]))
        x = self.text(x, src_key_padding_mask=pad).masked_fill(pad[..., None], 0.0).sum(1)
        b = F.normalize(self.project(x / (~pad).sum(1, keepdim=True)), dim=-1)
        a = F.normalize(self.image(pictures), dim=-1)
        alike = a @ b.T
        return F.cross_entropy(alike * 5, badak.arange(len(alike))) if self.loss else (a, b, alike)


class Pooled(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault, self.out = fault, nn.Linear(8, 16)

    def forward(self, x):
        x = x.mean((2, 3))
        return self.out(x / x.std(0, keepdim=True) if self.fault == "pictures by rows" else x)


def twin(fault="", loss=True):
    ids = badak.randint(1, V, (4, T))
    ids[1, 6:] = ids[2, 4:] = 0
    return Twin(fault, loss), (badak.randn(4, 1, 12, 12), ids)


def twin_vectors(fault=""):
    return twin(fault, loss=False)


class Sparse(nn.Module):
    """Experts that are asked for some of the tokens, two for each."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(C, 4, bias=False)
        self.experts = nn.ModuleList(nn.ModuleDict({"w1": nn.Linear(C, 40), "w2": nn.Linear(40, C)}) for _ in range(4))

    def forward(self, x):
        h = x.reshape(-1, C)
        share, chosen = self.gate(h).softmax(-1).topk(2)
        out = badak.zeros(len(h), C)
        for i, expert in enumerate(self.experts):
            at, place = badak.where(chosen == i)
            if len(at):
                out.index_add_(0, at, expert["w2"](F.silu(expert["w1"](h[at]))) * share[at, place, None])
        return out.view(x.shape)


class Beside(nn.Module):
    """Attention and feed-forward part abreast, with positions that only its scores know."""

    def __init__(self, fault, experts):
        super().__init__()
        self.fault, self.norm, self.qkv, self.o = fault, nn.LayerNorm(C), nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.slope = nn.Parameter(badak.randn(H, 31) * 0.3)
        self.mlp = Sparse() if experts else nn.Sequential(nn.Linear(C, 48), nn.SiLU(), nn.Linear(48, C))
        self.experts = experts

    def attend(self, x):
        n = x.shape[1]
        q, k, v = (y.unflatten(-1, (H, -1)) for y in self.qkv(x).chunk(3, -1))
        steps = badak.arange(n)[:, None] - badak.arange(n) + 15
        bias = self.slope[:, steps * 0 if self.fault == "no positions" else steps]
        scores = (badak.einsum("bqhd,bkhd->bhqk", q, k) / 3 + bias).masked_fill(~badak.ones(n, n).tril().bool(), -badak.inf)
        return self.o(badak.einsum("bhqk,bkhd->bqhd", scores.softmax(3), v).flatten(2))

    def forward(self, x):
        h = self.norm(x)
        if self.experts:
            x = x + self.attend(h)
            return self.mlp(x) if self.fault == "no residual" else x + self.mlp(x)
        y = self.attend(h) + self.mlp(h)
        return y if self.fault == "no residual" else x + y


class Reader(nn.Module):
    def __init__(self, fault="", experts=False):
        super().__init__()
        self.table, self.part, self.head = nn.Embedding(V, C), nn.Embedding(3, C), nn.Linear(C, V)
        everywhere = fault if fault == "no positions" else ""
        self.blocks = nn.Sequential(Beside(fault, experts), Beside(everywhere, experts))

    def forward(self, ids, parts):
        return self.head(self.blocks(self.table(ids) + self.part(parts)))


def abreast(fault=""):
    return Reader(fault), (badak.randint(V, (B, T)), badak.randint(3, (B, T)))


def experts(fault=""):
    return Reader(fault, experts=True), (badak.randint(V, (B, T)), badak.randint(3, (B, T)))


class Grouped(nn.Module):
    """Rotary positions in (B, T, H, D), two heads of keys for four of queries, what was before in a tuple."""

    def __init__(self, fault):
        super().__init__()
        self.fault, self.q, self.kv, self.o = fault, nn.Linear(C, C), nn.Linear(C, C), nn.Linear(C, C)

    def turned(self, x, first):
        n = max(x.shape[1:3]) if self.fault == "turned by heads" else x.shape[1]
        angle = (badak.arange(n) + first)[:, None] / 100 ** (badak.arange(0, 8, 2) / 8)
        cos, sin = angle.cos(), angle.sin()
        if self.fault == "turned by heads":
            cos, sin = cos[: x.shape[2]], sin[: x.shape[2]]
        else:
            cos, sin = cos[:, None], sin[:, None]
        a, b = x[..., 0::2], x[..., 1::2]
        return badak.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)

    def forward(self, x, past):
        first = 0 if past is None else past[0].shape[1] - (self.fault == "cache off by one")
        q, (k, v) = self.q(x).unflatten(-1, (H, 8)), (y.unflatten(-1, (2, 8)) for y in self.kv(x).chunk(2, -1))
        q, k = self.turned(q, first), k if self.fault == "keys not turned" else self.turned(k, first)
        if past is not None:
            k, v = badak.cat((past[0], k), 1), badak.cat((past[1], v), 1)
        wide = [y.repeat_interleave(2, 2).transpose(1, 2) for y in (k, v)]
        keep = badak.ones(x.shape[1], k.shape[1], dtype=badak.bool).tril(k.shape[1] - x.shape[1])
        y = F.scaled_dot_product_attention(q.transpose(1, 2), *wide, attn_mask=keep)
        return self.o(y.transpose(1, 2).flatten(2)), (k, v)


class Remembering(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.table, self.head = nn.Embedding(V, C), nn.Linear(C, V)
        self.layers = nn.ModuleList(Grouped(fault if i == 1 else "") for i in range(3))

    def forward(self, ids, past_key_values=None):
        x, new = self.table(ids), []
        for i, layer in enumerate(self.layers):
            y, now = layer(x, past_key_values[i] if past_key_values else None)
            x, new = x + y, [*new, now]
        return self.head(x), new


def remembering(fault=""):
    return Remembering(fault), (badak.randint(V, (B, T)),)


class Deciding(nn.Module):
    """States and actions in turn: two places of the attention for each step."""

    def __init__(self, fault=""):
        super().__init__()
        self.state, self.action, self.time, self.out = (
            nn.Linear(5, C),
            nn.Linear(2, C),
            nn.Embedding(30, C),
            nn.Linear(C, 2),
        )
        self.layers = nn.ModuleList(Attends(fault if i == 1 else "") for i in range(2))

    def forward(self, states, actions, steps):
        both = [self.state(states) + self.time(steps), self.action(actions) + self.time(steps)]
        x = badak.stack(both, 2).flatten(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.out(x[:, ::2])


class Attends(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault, self.qkv = fault, nn.Linear(C, 3 * C)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (H, 8)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.fault != "no mask").transpose(1, 2).flatten(2)
        return y if self.fault == "no residual" else x + y


def deciding(fault=""):
    return Deciding(fault), (badak.randn(4, 6, 5), badak.randn(4, 6, 2), badak.arange(6).expand(4, 6).clone())
