"""Translation, pre-norm, with one class of attention for all three, shared words, sinusoids; a loss and logits in a tuple."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD, BOS, EOS = 0, 1, 2


def sinusoids(length, width):
    at = torch.arange(length).float()[:, None] / 10000 ** (torch.arange(0, width, 2).float() / width)
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = at.sin(), at.cos()
    return table


class Heads(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.n, self.q, self.kv, self.o = n, nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.n, -1).permute(0, 2, 1, 3)

    def forward(self, x, memory, hide):
        q = self.split(self.q(x))
        k, v = (self.split(each) for each in self.kv(memory).chunk(2, dim=-1))
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(hide, -1e9).softmax(-1)
        return self.o((weights @ v).permute(0, 2, 1, 3).flatten(2))


class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class Enc(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.attn, self.inner, self.ln1, self.ln2 = Heads(width, n), Inner(width), nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, hide):
        y = self.ln1(x)
        x = x + self.attn(y, y, hide)
        return x + self.inner(self.ln2(x))


class Dec(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.self_attn, self.cross, self.inner = Heads(width, n), Heads(width, n), Inner(width)
        self.ln1, self.ln2, self.ln3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, y, memory, hide_src, hide_tgt):
        z = self.ln1(y)
        y = y + self.self_attn(z, z, hide_tgt)
        y = y + self.cross(self.ln2(y), memory, hide_src)
        return y + self.inner(self.ln3(y))


class Translate(nn.Module):
    def __init__(self, vocab=47, width=32, n=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=PAD)
        self.register_buffer("table", sinusoids(40, width))
        self.enc = nn.ModuleList(Enc(width, n) for _ in range(depth))
        self.dec = nn.ModuleList(Dec(width, n) for _ in range(depth))
        self.enc_norm, self.dec_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.scale = math.sqrt(width)
        self.classify = nn.Linear(width, vocab)

    def put(self, ids):
        return self.embed(ids) * self.scale + self.table[: ids.shape[1]]

    def forward(self, src, tgt):
        tgt_in, tgt_out = tgt[:, :-1], tgt[:, 1:]
        hide_src = (src == PAD)[:, None, None]
        t = tgt_in.shape[1]
        hide_tgt = (tgt_in == PAD)[:, None, None] | torch.ones(t, t, dtype=torch.bool).triu(1)
        x = self.put(src)
        for layer in self.enc:
            x = layer(x, hide_src)
        memory = self.enc_norm(x)
        y = self.put(tgt_in)
        for layer in self.dec:
            y = layer(y, memory, hide_src, hide_tgt)
        logits = self.classify(self.dec_norm(y))
        loss = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=0.1)
        return loss, logits


def build():
    src, tgt = torch.randint(3, 47, (4, 10)), torch.randint(3, 47, (4, 12))
    tgt[:, 0] = BOS
    for row, (s, t) in enumerate(((10, 12), (7, 9), (8, 10), (5, 7))):
        src[row, s:], tgt[row, t:], tgt[row, t - 1] = PAD, PAD, EOS
    return {"model": Translate(), "batch": {"src": src, "tgt": tgt}}
