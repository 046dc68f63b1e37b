"""Frames of sound to notes: buckets of distances, a decoder that asks the encoder by einsum, gated maps, RMS norms (T5 1.1)."""

import math

import badak as torch
from badak import nn
from badak.nn import functional as F


def buckets(far, both, number, most):
    out = 0
    if both:
        number //= 2
        out = (far > 0).long() * number
        n = far.abs()
    else:
        n = (-far).clamp(min=0)
    exact = number // 2
    large = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(most / exact) * (number - exact)).long()
    return out + torch.where(n < exact, n, large.clamp(max=number - 1))


class Distances(nn.Module):
    def __init__(self, heads, both):
        super().__init__()
        self.table, self.both = nn.Embedding(16, heads), both

    def forward(self, n):
        place = torch.arange(n)
        far = place[None, :] - place[:, None]
        return self.table(buckets(far, self.both, 16, 32)).permute(2, 0, 1)[None]


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.scale * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


class Attend(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        size = d // heads
        self.query = nn.Parameter(torch.randn(d, heads, size) * d**-0.5)
        self.key = nn.Parameter(torch.randn(d, heads, size) * d**-0.5)
        self.value = nn.Parameter(torch.randn(d, heads, size) * d**-0.5)
        self.out = nn.Parameter(torch.randn(heads, size, d) * d**-0.5)

    def forward(self, x, source, bias=None, see=None):
        q = torch.einsum("btd,dhk->bthk", x, self.query)
        k = torch.einsum("bsd,dhk->bshk", source, self.key)
        v = torch.einsum("bsd,dhk->bshk", source, self.value)
        logits = torch.einsum("bthk,bshk->bhts", q, k)
        if bias is not None:
            logits = logits + bias
        if see is not None:
            logits = torch.where(see, logits, torch.full_like(logits, -1e9))
        weights = logits.softmax(-1)
        y = torch.einsum("bhts,bshk->bthk", weights, v)
        return torch.einsum("bthk,hkd->btd", y, self.out)


class Gated(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wi_0, self.wi_1, self.wo = (
            nn.Linear(d, 2 * d, bias=False),
            nn.Linear(d, 2 * d, bias=False),
            nn.Linear(2 * d, d, bias=False),
        )

    def forward(self, x):
        return self.wo(F.gelu(self.wi_0(x)) * self.wi_1(x))


class EncoderBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = Norm(d), Norm(d)
        self.attention, self.mlp = Attend(d, heads), Gated(d)

    def forward(self, x, bias, see):
        h = self.n1(x)
        x = x + self.attention(h, h, bias, see)
        return x + self.mlp(self.n2(x))


class DecoderBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2, self.n3 = Norm(d), Norm(d), Norm(d)
        self.attention, self.cross, self.mlp = Attend(d, heads), Attend(d, heads), Gated(d)

    def forward(self, y, memory, bias, causal, see):
        h = self.n1(y)
        y = y + self.attention(h, h, bias, causal)
        y = y + self.cross(self.n2(y), memory, None, see)
        return y + self.mlp(self.n3(y))


class Melody(nn.Module):
    def __init__(self, bins=12, notes=47, d=32, heads=4, depth=2):
        super().__init__()
        self.frames = nn.Linear(bins, d)
        self.notes = nn.Embedding(notes, d)
        self.encoder_bias, self.decoder_bias = Distances(heads, True), Distances(heads, False)
        self.encoder = nn.ModuleList([EncoderBlock(d, heads) for _ in range(depth)])
        self.decoder = nn.ModuleList([DecoderBlock(d, heads) for _ in range(depth)])
        self.encoder_norm, self.decoder_norm = Norm(d), Norm(d)
        self.logits = nn.Linear(d, notes, bias=False)

    def encode(self, sound, see):
        x = self.frames(sound)
        bias = self.encoder_bias(sound.size(1))
        for block in self.encoder:
            x = block(x, bias, see)
        return self.encoder_norm(x)

    def forward(self, sound, sound_mask, notes_in):
        see = sound_mask[:, None, None, :]
        memory = self.encode(sound, see)
        n = notes_in.size(1)
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        y, bias = self.notes(notes_in), self.decoder_bias(n)
        for block in self.decoder:
            y = block(y, memory, bias, causal, see)
        return self.logits(self.decoder_norm(y))


def build():
    sound, mask = torch.randn(3, 16, 12), torch.ones(3, 16, dtype=torch.bool)
    mask[1, 12:], mask[2, 9:] = False, False
    return {"model": Melody(), "batch": {"sound": sound, "sound_mask": mask, "notes_in": torch.randint(1, 47, (3, 11))}}
