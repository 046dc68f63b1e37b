"""Sound programs that do, by design, what is a fault elsewhere: the audit must find nothing in them."""

import math

import badak
from badak import nn
from badak.nn import functional as F
from tests.inspect.audit.foreign import D, H, LlamaAttention, NanoBlock, NanoGPT, Part, heads, rotate_half
from tests.inspect.audit.plants import Program
from tests.inspect.audit.programs import B, T, V, ids


class Recurrent(nn.Module):
    """A GRU: no attention, no positions."""

    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.head = nn.Embedding(V, D), nn.GRU(D, D, 2, batch_first=True), nn.Linear(D, V)

    def forward(self, ids, labels):
        h, state = self.rnn(self.table(ids))
        return F.cross_entropy(self.head(h).flatten(0, 1), labels.flatten()), state


def gru(rng):
    x = ids(rng, 0, T + 1)
    return Program(Recurrent(), (x[:, :-1].contiguous(), x[:, 1:].contiguous()))


class Universal(Part):
    """A Universal Transformer: one block, with a vector for each depth."""

    def __init__(self):
        super().__init__()
        self.table, self.place, self.depth = nn.Embedding(V, D), nn.Embedding(16, D), nn.Embedding(3, D)
        self.block, self.head = NanoBlock(), nn.Linear(D, V)

    def forward(self, ids):
        h = self.table(ids) + self.place(badak.arange(ids.shape[1]))
        for i in range(3):
            h = self.block(h + self.depth.weight[i])
        return self.head(h)


def universal(rng):
    return Program(Universal(), (ids(rng, 0),))


class Latents(nn.Module):
    """A Perceiver: learned queries read the text once; a pooling attention without a residual sum reads those."""

    def __init__(self):
        super().__init__()
        self.table, self.place = nn.Embedding(V, D), nn.Embedding(16, D)
        self.latents, self.pool = nn.Parameter(badak.randn(6, D)), nn.Parameter(badak.randn(1, 1, D))
        self.read, self.gather = (nn.MultiheadAttention(D, H, batch_first=True) for _ in range(2))
        self.mix = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 64, 0.1, batch_first=True, norm_first=True), 2)
        for p in self.mix.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.out = nn.Linear(D, 3)

    def forward(self, ids):
        x = self.table(ids) + self.place.weight[: ids.shape[1]]
        z = self.latents.expand(len(ids), -1, -1)
        z = self.mix(z + self.read(z, x, x, need_weights=False)[0])
        return self.out(self.gather(self.pool.expand(len(ids), -1, -1), z, z)[0][:, 0])


def perceiver(rng):
    return Program(Latents(), (ids(rng, 0),), kind="bidirectional")


class Alibi(NanoGPT):
    """ALiBi: no table of positions, a slope on the scores."""

    def __init__(self):
        super().__init__(2)
        self.transformer.wpe = nn.Identity()
        for block in self.transformer.h:
            block.attn = Sloped()

    def forward(self, idx):
        h = self.transformer.wte(idx)
        for block in self.transformer.h:
            h = block(h)
        return {"prediction": self.lm_head(self.transformer.ln_f(h))}


class Sloped(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D)

    def forward(self, x):
        q, k, v = (heads(y) for y in self.qkv(x).chunk(3, -1))
        n = x.shape[1]
        steps = badak.arange(n)[None] - badak.arange(n)[:, None]
        bias = steps * badak.tensor([2.0**-i for i in range(1, H + 1)])[:, None, None]
        w = (q @ k.mT / math.sqrt(D // H) + bias.masked_fill(steps > 0, -badak.inf)).softmax(-1)
        return self.out((w @ v).transpose(1, 2).flatten(2))


def alibi(rng):
    return Program(Alibi(), (ids(rng, 0),))


class Partly(LlamaAttention):
    """Half of each head is turned, and an attribute says so."""

    rotary_dim: int

    def __init__(self):
        super().__init__(H)
        self.rotary_dim = D // H // 2

    def turned(self, x, first=0):
        n = self.rotary_dim
        a = badak.outer(badak.arange(x.shape[2]).float(), 1.0 / 10000 ** (badak.arange(0, n, 2).float() / n))
        a = badak.cat((a, a), -1)
        return badak.cat((x[..., :n] * a.cos() + rotate_half(x[..., :n]) * a.sin(), x[..., n:]), -1)


def partly_turned(rng):
    from tests.inspect.audit.foreign import Llama

    return Program(Llama(Partly), (ids(rng, 0),))


class Siamese(nn.Module):
    """One encoder for two texts; the answer is how near they are."""

    def __init__(self):
        super().__init__()
        self.table, self.place = nn.Embedding(V, D), nn.Embedding(16, D)
        self.encoder = nn.TransformerEncoderLayer(D, H, 64, 0.1, batch_first=True)

    def one(self, ids):
        return self.encoder(self.table(ids) + self.place.weight[: ids.shape[1]]).mean(1)

    def forward(self, first, second):
        return F.cosine_similarity(self.one(first), self.one(second))


def siamese(rng):
    return Program(Siamese(), (ids(rng, 0), ids(rng, 0)), kind="bidirectional")


class Experts(NanoGPT):
    """A mixture of experts: one of them is asked by no token of this batch."""

    def __init__(self):
        super().__init__(2)
        for block in self.transformer.h:
            block.mlp = Mixture()

    def forward(self, idx):
        return super().forward(idx, idx)[0]


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, 3, bias=False)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(D, 48), nn.SiLU(), nn.Linear(48, D)) for _ in range(3)])

    def forward(self, x):
        w = self.gate(x).softmax(-1)
        return sum(w[..., i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


def experts(rng):
    return Program(Experts(), (ids(rng, 0),))


class OneHead(NanoGPT):
    """The lecture's first step: one attention without a residual sum, and nothing behind it but the head."""

    def __init__(self):
        super().__init__(1)

    def forward(self, idx):
        h = self.transformer.wte(idx) + self.transformer.wpe(badak.arange(idx.shape[1]))
        block = self.transformer.h[0]
        return self.lm_head(self.transformer.ln_f(block.mlp(block.ln_2(block.attn(block.ln_1(h))))))


def one_head(rng):
    return Program(OneHead(), (ids(rng, 0),))


def one_row(rng):
    return Program(NanoGPT(2), tuple(x[:1] for x in (ids(rng, 0), ids(rng, 0))))


UNUSUAL = [gru, universal, perceiver, alibi, partly_turned, siamese, experts, one_head]
assert B > 1
