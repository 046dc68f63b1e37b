"""Programs in the styles of other people, held back from the probes: what they give, what they are called with, how they count
positions and share layers differs from one to the next. `off` in a module switches one thing of it wrong (see `switched.py`)."""

import math
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import badak
from badak import nn
from badak.nn import functional as F
from tests.inspect.audit.plants import Program
from tests.inspect.audit.programs import T, V, ids, padded

D, H = 32, 4


class Part(nn.Module):
    """A module with switches: each name in `off` is a thing that it does wrong."""

    switches: tuple = ()
    off: frozenset = frozenset()

    def on(self, name: str) -> bool:
        return name not in self.off

    def join(self, name: str, x, y):
        """The residual connection."""
        return x + y if self.on(name) else y


def heads(x, n=H):
    return x.view(x.shape[0], x.shape[1], n, -1).transpose(1, 2)


# ------------------------------------------------------------------ 1. nanoGPT


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj, self.drop, self.dropout = nn.Linear(D, 3 * D), nn.Linear(D, D), nn.Dropout(0.1), 0.1

    def forward(self, x):
        q, k, v = (heads(y) for y in self.c_attn(x).split(D, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.drop(self.c_proj(y.transpose(1, 2).contiguous().view(x.shape)))


class NanoBlock(Part):
    switches = ("residual attn", "residual mlp")

    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(D), CausalSelfAttention(), nn.LayerNorm(D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = self.join("residual attn", x, self.attn(self.ln_1(x)))
        return self.join("residual mlp", x, self.mlp(self.ln_2(x)))


class NanoGPT(Part):
    switches = ("positions", "positions along the batch")

    def __init__(self, layers=3):
        super().__init__()
        blocks = nn.ModuleList([NanoBlock() for _ in range(layers)])
        self.transformer = nn.ModuleDict(
            dict(wte=nn.Embedding(V, D), wpe=nn.Embedding(16, D), drop=nn.Dropout(0.1), h=blocks, ln_f=nn.LayerNorm(D))
        )
        self.lm_head = nn.Linear(D, V, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        x = self.transformer.wte(idx)
        if self.on("positions"):
            p = self.transformer.wpe(badak.arange(idx.shape[1]))
            x = x + (p if self.on("positions along the batch") else p[: idx.shape[0], None])
        x = self.transformer.drop(x)
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is not None:
            logits = self.lm_head(x)
            return logits, F.cross_entropy(logits.view(-1, V), targets.view(-1), ignore_index=-1)
        return self.lm_head(x[:, [-1], :]), None


def pair(rng):
    x = ids(rng, 0, T + 1)
    return x[:, :-1].contiguous(), x[:, 1:].contiguous()


def nano(rng):
    return Program(NanoGPT(), pair(rng))


def nano_writing(rng):
    return Program(NanoGPT(), pair(rng)[:1])


# ------------------------------------------------------------------ 2. the lecture: flat logits, each head a module


class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(D, size, bias=False) for _ in range(3))
        self.register_buffer("tril", badak.tril(badak.ones(16, 16)))
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        n = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * (D // H) ** -0.5
        wei = wei.masked_fill(self.tril[:n, :n] == 0, float("-inf"))
        return self.dropout(F.softmax(wei, dim=-1)) @ self.value(x)


class ManyHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.proj = nn.ModuleList([Head(D // H) for _ in range(H)]), nn.Linear(D, D)

    def forward(self, x):
        return self.proj(badak.cat([h(x) for h in self.heads], dim=-1))


class LectureBlock(Part):
    switches = ("residual attn", "residual mlp")

    def __init__(self):
        super().__init__()
        self.sa, self.ffwd = (
            ManyHeads(),
            nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D), nn.Dropout(0.2)),
        )
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x):
        x = self.join("residual attn", x, self.sa(self.ln1(x)))
        return self.join("residual mlp", x, self.ffwd(self.ln2(x)))


class Bigram(Part):
    switches = ("positions",)

    def __init__(self):
        super().__init__()
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(V, D), nn.Embedding(16, D)
        self.blocks = nn.Sequential(*[LectureBlock() for _ in range(2)])
        self.ln_f, self.lm_head = nn.LayerNorm(D), nn.Linear(D, V)

    def forward(self, idx, targets=None):
        x = self.token_embedding_table(idx)
        if self.on("positions"):
            x = x + self.position_embedding_table(badak.arange(idx.shape[1]))
        logits = self.lm_head(self.ln_f(self.blocks(x))).view(-1, V)
        return logits, None if targets is None else F.cross_entropy(logits, targets.reshape(-1))


def lecture(rng):
    return Program(Bigram(), pair(rng))


# ------------------------------------------------------------------ 3. gives its loss and nothing else; shifts within


class ShyLM(NanoGPT):
    def forward(self, tokens):
        return super().forward(tokens[:, :-1], tokens[:, 1:].contiguous())[1]


def loss_only(rng):
    return Program(ShyLM(), (ids(rng, 0),))


# ------------------------------------------------------------------ 4. enc_inputs and dec_inputs, a named tuple


Gave = namedtuple("Gave", "out enc_attns dec_attns")


class Attn(Part):
    def __init__(self):
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.fc = (nn.Linear(D, D) for _ in range(4))

    def forward(self, Q, K, V_, hide):
        q, k, v = heads(self.W_Q(Q)), heads(self.W_K(K)), heads(self.W_V(V_))
        attn = (q @ k.transpose(-1, -2) / math.sqrt(D // H)).masked_fill(hide.unsqueeze(1), -1e9).softmax(-1)
        return self.fc((attn @ v).transpose(1, 2).reshape(Q.shape)), attn


class EncLayer(Part):
    switches = ("residual attn", "residual mlp")

    def __init__(self):
        super().__init__()
        self.enc_self_attn, self.n1, self.n2 = Attn(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.ffn = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, D))

    def forward(self, x, hide):
        y, a = self.enc_self_attn(x, x, x, hide)
        x = self.n1(self.join("residual attn", x, y))
        return self.n2(self.join("residual mlp", x, self.ffn(x))), a


class DecLayer(Part):
    switches = ("residual attn", "residual cross", "residual mlp")

    def __init__(self):
        super().__init__()
        self.dec_self_attn, self.dec_enc_attn = Attn(), Attn()
        self.n1, self.n2, self.n3 = (nn.LayerNorm(D) for _ in range(3))
        self.ffn = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, D))

    def forward(self, x, memory, own, other):
        y, a = self.dec_self_attn(x, x, x, own)
        x = self.n1(self.join("residual attn", x, y))
        x = self.n2(self.join("residual cross", x, self.dec_enc_attn(x, memory, memory, other)[0]))
        return self.n3(self.join("residual mlp", x, self.ffn(x))), a


class Seq2Seq(Part):
    switches = ("positions",)

    def __init__(self):
        super().__init__()
        self.src_emb, self.tgt_emb, self.pos_emb = nn.Embedding(V, D), nn.Embedding(V, D), nn.Embedding(16, D)
        self.enc, self.dec = (nn.ModuleList([kind() for _ in range(2)]) for kind in (EncLayer, DecLayer))
        self.projection = nn.Linear(D, V, bias=False)

    def place(self, x):
        return x + self.pos_emb(badak.arange(x.shape[1])) if self.on("positions") else x

    def forward(self, enc_inputs, dec_inputs):
        src = (enc_inputs == 0)[:, None]
        tgt = (dec_inputs == 0)[:, None] | badak.ones(dec_inputs.shape[1], dec_inputs.shape[1]).triu(1).bool()
        x, y, attns = self.place(self.src_emb(enc_inputs)), self.place(self.tgt_emb(dec_inputs)), ([], [])
        for layer in self.enc:
            x, a = layer(x, src.expand(-1, x.shape[1], -1))
            attns[0].append(a)
        for layer in self.dec:
            y, a = layer(y, x, tgt, src.expand(-1, y.shape[1], -1))
            attns[1].append(a)
        return Gave(self.projection(y), *attns)


def own_names(rng):
    return Program(Seq2Seq(), (padded(rng), padded(rng)), kind="encoder-decoder")


# ------------------------------------------------------------------ 5. the library's way: labels are the ids, an object comes back


@dataclass
class Output:
    loss: Any = None
    logits: Any = None
    hidden_states: Any = None


class LibraryLM(NanoGPT):
    def forward(self, input_ids, attention_mask=None, labels=None):
        logits, _ = super().forward(input_ids, input_ids)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].reshape(-1, V), labels[:, 1:].reshape(-1))
        return Output(loss=loss, logits=logits)


def library(rng):
    x = ids(rng, 0)
    return Program(LibraryLM(), (), {"input_ids": x, "labels": x})


# ------------------------------------------------------------------ 6. Llama: rotary halves, grouped heads, a namespace


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(badak.ones(D))

    def forward(self, x):
        return self.weight * x * badak.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def angles(n, d, first=0):
    inv = 1.0 / 10000 ** (badak.arange(0, d, 2).float() / d)
    return badak.outer(badak.arange(first, first + n).float(), inv)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return badak.cat((-b, a), dim=-1)


class LlamaAttention(Part):
    switches = ("half rotary", "wrong pairing", "keys not turned", "grouped heads", "grouped keys only")

    def __init__(self, groups=2):
        super().__init__()
        self.groups = groups
        self.q_proj, self.o_proj = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(D, D // H * groups, bias=False) for _ in range(2))

    def turned(self, x, first=0):
        a = angles(x.shape[2], x.shape[3], first)
        a = badak.cat((a, a), -1) if self.on("wrong pairing") else a.repeat_interleave(2, dim=-1)
        if not self.on("half rotary"):
            n = x.shape[3] // 2
            half = badak.cat((a[:, : n // 2], a[:, : n // 2]), -1)
            return badak.cat((x[..., :n] * half.cos() + rotate_half(x[..., :n]) * half.sin(), x[..., n:]), -1)
        return x * a.cos() + rotate_half(x) * a.sin()

    def wide(self, x, keys):
        n = H // self.groups
        if not self.on("grouped heads") or (keys and not self.on("grouped keys only")):
            return x.repeat(1, n, 1, 1)
        return x[:, :, None].expand(-1, -1, n, -1, -1).reshape(x.shape[0], H, x.shape[2], x.shape[3])

    def forward(self, x):
        q, k, v = heads(self.q_proj(x)), heads(self.k_proj(x), self.groups), heads(self.v_proj(x), self.groups)
        q, k = self.turned(q), self.turned(k) if self.on("keys not turned") else k
        w = q @ self.wide(k, True).transpose(2, 3) / math.sqrt(D // H)
        w = w + badak.full((x.shape[1], x.shape[1]), badak.finfo(x.dtype).min).triu(1)
        y = F.softmax(w, dim=-1, dtype=badak.float32).to(x.dtype) @ self.wide(v, False)
        return self.o_proj(y.transpose(1, 2).reshape(x.shape))


class LlamaLayer(Part):
    switches = ("residual attn", "residual mlp")

    def __init__(self, attention=LlamaAttention):
        super().__init__()
        self.self_attn, self.input_layernorm, self.post_attention_layernorm = attention(), RMSNorm(), RMSNorm()
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(D, 48), nn.Linear(D, 48), nn.Linear(48, D)

    def forward(self, x):
        x = self.join("residual attn", x, self.self_attn(self.input_layernorm(x)))
        n = self.post_attention_layernorm(x)
        return self.join("residual mlp", x, self.down_proj(F.silu(self.gate_proj(n)) * self.up_proj(n)))


class Llama(nn.Module):
    def __init__(self, attention=LlamaAttention):
        super().__init__()
        self.embed_tokens, self.layers = nn.Embedding(V, D), nn.ModuleList([LlamaLayer(attention) for _ in range(3)])
        self.norm, self.lm_head = RMSNorm(), nn.Linear(D, V, bias=False)

    def forward(self, tokens):
        h = self.embed_tokens(tokens)
        for layer in self.layers:
            h = layer(h)
        return SimpleNamespace(logits=self.lm_head(self.norm(h)), hidden=h)


def llama_like(rng):
    return Program(Llama(), (ids(rng, 0),))


# ------------------------------------------------------------------ 7. rotary in pairs of neighbours, by complex numbers' formula


class PairAttention(LlamaAttention):
    switches = ("half rotary", "wrong pairing", "keys not turned", "grouped heads")

    def turned(self, x, first=0):
        a = angles(x.shape[2], x.shape[3], first)
        c, s = a.cos(), a.sin()
        even, odd = x[..., ::2], x[..., 1::2]
        if not self.on("half rotary"):
            c = badak.cat((c[:, : c.shape[1] // 2], badak.ones(c.shape[0], c.shape[1] - c.shape[1] // 2)), 1)
            s = badak.cat((s[:, : s.shape[1] // 2], badak.zeros(s.shape[0], s.shape[1] - s.shape[1] // 2)), 1)
        if not self.on("wrong pairing"):
            odd = badak.roll(odd, 1, dims=-1)
        return badak.stack((even * c - odd * s, even * s + odd * c) if self.on("wrong pairing")
                           else (even * c - odd * s, x[..., ::2] * s + x[..., 1::2] * c), -1).flatten(-2)  # fmt: skip


def pairs_like(rng):
    return Program(Llama(PairAttention), (ids(rng, 0),))
