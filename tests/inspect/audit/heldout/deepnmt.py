"""Translation with many layers in mind: the stream weighs more in each sum, gated maps, few heads of keys, one class for both sorts
of attention; what the decoder had is handed back for the next word."""

import math

import badak as torch
import badak.nn.functional as F
from badak import nn

PAD = 0


def sinusoid(positions, dim):
    rate = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(10000.0) / dim))
    angle = positions[:, None].float() * rate[None]
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


class FewHeads(nn.Module):
    def __init__(self, dim, n_q, n_kv, p):
        super().__init__()
        self.n_q, self.n_kv, self.d = n_q, n_kv, dim // n_q
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, n_kv * self.d)
        self.value, self.merge = nn.Linear(dim, n_kv * self.d), nn.Linear(dim, dim)
        self.p = p

    def keys_values(self, y):
        b, s, _ = y.shape
        k = self.key(y).view(b, s, self.n_kv, self.d).transpose(1, 2)
        v = self.value(y).view(b, s, self.n_kv, self.d).transpose(1, 2)
        return k, v

    def forward(self, x, k, v, visible):
        b, t, c = x.shape
        q = self.query(x).view(b, t, self.n_kv, self.n_q // self.n_kv, self.d).permute(0, 2, 3, 1, 4)
        scores = q @ k.unsqueeze(2).transpose(-2, -1) / self.d**0.5
        scores = torch.where(visible[:, None], scores, torch.tensor(-1e9))
        weights = F.dropout(scores.softmax(dim=-1), self.p, self.training)
        out = weights @ v.unsqueeze(2)
        return self.merge(out.permute(0, 3, 1, 2, 4).reshape(b, t, c))


class GLU(nn.Module):
    def __init__(self, dim, inner, p):
        super().__init__()
        self.both, self.out, self.drop = nn.Linear(dim, 2 * inner), nn.Linear(inner, dim), nn.Dropout(p)

    def forward(self, x):
        a, b = self.both(x).chunk(2, dim=-1)
        return self.out(self.drop(F.gelu(a) * b))


class DeepEncoderLayer(nn.Module):
    def __init__(self, dim, heads, groups, alpha, p):
        super().__init__()
        self.alpha, self.attn, self.ffn = alpha, FewHeads(dim, heads, groups, p), GLU(dim, 2 * dim, p)
        self.ln_attn, self.ln_ffn = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x, visible):
        k, v = self.attn.keys_values(x)
        x = self.ln_attn(self.alpha * x + self.attn(x, k, v, visible))
        return self.ln_ffn(self.alpha * x + self.ffn(x))


class DeepDecoderLayer(nn.Module):
    def __init__(self, dim, heads, groups, alpha, p):
        super().__init__()
        self.alpha, self.attn, self.cross = alpha, FewHeads(dim, heads, groups, p), FewHeads(dim, heads, groups, p)
        self.ffn = GLU(dim, 2 * dim, p)
        self.ln_attn, self.ln_cross, self.ln_ffn = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, y, memory, see_tgt, see_src, past=None):
        k, v = self.attn.keys_values(y)
        if past is not None:
            k, v = torch.cat([past["k"], k], dim=2), torch.cat([past["v"], v], dim=2)
        now = {"k": k, "v": v}
        y = self.ln_attn(self.alpha * y + self.attn(y, k, v, see_tgt))
        mk, mv = self.cross.keys_values(memory)
        y = self.ln_cross(self.alpha * y + self.cross(y, mk, mv, see_src))
        return self.ln_ffn(self.alpha * y + self.ffn(y)), now


class DeepTranslator(nn.Module):
    def __init__(self, src_vocab=43, tgt_vocab=47, dim=32, heads=4, groups=2, depth=2, p=0.1):
        super().__init__()
        self.dim = dim
        alpha = (2 * depth) ** 0.25
        self.src_words, self.tgt_words = (
            nn.Embedding(src_vocab, dim, padding_idx=PAD),
            nn.Embedding(tgt_vocab, dim, padding_idx=PAD),
        )
        self.encoder = nn.ModuleList(DeepEncoderLayer(dim, heads, groups, alpha, p) for _ in range(depth))
        self.decoder = nn.ModuleList(DeepDecoderLayer(dim, heads, groups, alpha, p) for _ in range(depth))
        self.dropout = nn.Dropout(p)
        self.project = nn.Linear(dim, tgt_vocab)

    def put(self, words, ids, start=0):
        at = torch.arange(start, start + ids.shape[1])
        return self.dropout(words(ids) * math.sqrt(self.dim) + sinusoid(at, self.dim))

    def encode(self, src):
        see_src = (src != PAD)[:, None, None, :]
        x = self.put(self.src_words, src)
        for layer in self.encoder:
            x = layer(x, see_src)
        return x, see_src

    def forward(self, src, tgt, past=None):
        memory, see_src = self.encode(src)
        start = 0 if past is None else past[0]["k"].shape[2]
        t = tgt.shape[1]
        see_tgt = torch.ones(t, start + t, dtype=torch.bool).tril(diagonal=start)[None, None]
        y = self.put(self.tgt_words, tgt, start)
        new = []
        for i, layer in enumerate(self.decoder):
            y, now = layer(y, memory, see_tgt, see_src, past[i] if past is not None else None)
            new.append(now)
        return {"logits": self.project(y), "past": new}


def build():
    src, tgt = torch.randint(1, 43, (4, 12)), torch.randint(1, 47, (4, 9))
    for row, n in enumerate((12, 7, 10, 5)):
        src[row, n:] = PAD
    return {"model": DeepTranslator(), "batch": {"src": src, "tgt": tgt}}
