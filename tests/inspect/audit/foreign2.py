"""More programs in the styles of other people: T5, ViT, time series, gates that start at zero, one layer used many times."""

import math

import badak
from badak import nn
from badak.nn import functional as F
from tests.inspect.audit.foreign import Bigram, D, H, LectureBlock, NanoGPT, Part, RMSNorm, heads
from tests.inspect.audit.plants import Program
from tests.inspect.audit.programs import B, T, V, ids, padded

# ------------------------------------------------------------------ 8. T5: relative positions, a dict comes back


class T5Attention(nn.Module):
    def __init__(self, relative=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(31, H) if relative else None

    def forward(self, x, memory=None, mask=None, bias=None):
        m = x if memory is None else memory
        q, k, v = heads(self.q(x)), heads(self.k(m)), heads(self.v(m))
        scores = badak.matmul(q, k.transpose(3, 2))
        if bias is None:
            bias = badak.zeros(1, H, x.shape[1], m.shape[1])
            if self.relative_attention_bias is not None:
                steps = badak.arange(m.shape[1])[None] - badak.arange(x.shape[1])[:, None]
                bias = self.relative_attention_bias((steps + 15).clamp(0, 30)).permute(2, 0, 1)[None]
            if mask is not None:
                bias = bias + mask
        w = F.softmax((scores + bias).float(), dim=-1).type_as(scores)
        return self.o(badak.matmul(w, v).transpose(1, 2).reshape(x.shape)), bias


class T5Block(Part):
    switches = ("residual attn", "residual cross", "residual mlp")

    def __init__(self, decoder, relative):
        super().__init__()
        self.SelfAttention, self.EncDecAttention = T5Attention(relative), T5Attention() if decoder else None
        self.switches = tuple(name for name in self.switches if decoder or "cross" not in name)
        self.n1, self.n2, self.n3 = RMSNorm(), RMSNorm() if decoder else None, RMSNorm()
        self.wi, self.wo = nn.Linear(D, 64, bias=False), nn.Linear(64, D, bias=False)

    def forward(self, x, bias, mask, memory=None, memory_mask=None):
        y, bias = self.SelfAttention(self.n1(x), mask=mask, bias=bias)
        x = self.join("residual attn", x, y)
        if self.EncDecAttention is not None:
            x = self.join("residual cross", x, self.EncDecAttention(self.n2(x), memory, memory_mask)[0])
        return self.join("residual mlp", x, self.wo(F.relu(self.wi(self.n3(x))))), bias


class T5(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(V, D)
        self.encoder_block = nn.ModuleList([T5Block(False, i == 0) for i in range(2)])
        self.decoder_block = nn.ModuleList([T5Block(True, i == 0) for i in range(2)])
        self.final, self.lm_head = RMSNorm(), nn.Linear(D, V, bias=False)

    def forward(self, input_ids, decoder_input_ids, attention_mask):
        low = badak.finfo(badak.float32).min
        src = (1.0 - attention_mask.float())[:, None, None] * low
        n = decoder_input_ids.shape[1]
        tgt = (badak.ones(n, n).triu(1) * low)[None, None]
        x, bias = self.shared(input_ids), None
        for block in self.encoder_block:
            x, bias = block(x, bias, src)
        y, bias = self.shared(decoder_input_ids), None
        for block in self.decoder_block:
            y, bias = block(y, bias, tgt, x, src)
        return {"logits": self.lm_head(self.final(y)), "encoder_last_hidden_state": x}


def t5_like(rng):
    x = padded(rng)
    return Program(T5(), (x, ids(rng, 1, T - 2), (x != 0).long()), kind="encoder-decoder")


# ------------------------------------------------------------------ 9. ViT: a class token, positions that start at zero, an object


class Answered:
    def __init__(self, scores, tokens):
        self.scores, self.tokens = scores, tokens


class ViTBlock(Part):
    switches = ("residual attn", "residual mlp")

    def __init__(self):
        super().__init__()
        self.norm1, self.attn, self.norm2 = (
            nn.LayerNorm(D),
            nn.MultiheadAttention(D, H, batch_first=True),
            nn.LayerNorm(D),
        )
        self.mlp = nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Linear(64, D))

    def forward(self, x):
        n = self.norm1(x)
        x = self.join("residual attn", x, self.attn(n, n, n, need_weights=False)[0])
        return self.join("residual mlp", x, self.mlp(self.norm2(x)))


class ViT(Part):
    switches = ("positions",)

    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, D, 4, stride=4)
        self.cls_token, self.pos_embed = nn.Parameter(badak.zeros(1, 1, D)), nn.Parameter(badak.zeros(1, 17, D))
        self.blocks = nn.Sequential(*[ViTBlock() for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, 5)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = badak.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        if self.on("positions"):
            x = x + self.pos_embed
        x = self.norm(self.blocks(x))
        return Answered(self.head(x[:, 0]), x)


def vit_like(rng):
    return Program(ViT(), (badak.tensor(rng.random((B, 3, 16, 16)).astype("f")),), kind="image")


# ------------------------------------------------------------------ 10. time series: a causal forecaster, and a window


class Forecaster(Part):
    switches = ("positions along the batch",)

    def __init__(self):
        super().__init__()
        self.input_projection, self.pe = nn.Linear(3, D), nn.Parameter(badak.randn(1, 32, D) * 0.02)
        layer = nn.TransformerEncoderLayer(D, H, 64, 0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        for p in self.encoder.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.decoder = nn.Linear(D, 3)

    def forward(self, series):
        n = series.shape[1]
        x = self.input_projection(series)
        x = x + (self.pe[:, :n] if self.on("positions along the batch") else self.pe[0, : len(series), None])
        return self.decoder(self.encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(n)))


def forecaster(rng):
    return Program(Forecaster(), (badak.tensor(rng.standard_normal((B, T, 3)).astype("f")),))


class Window(Forecaster):
    def forward(self, series):
        x = self.input_projection(series)
        x = x + (self.pe[:, : x.shape[1]] if self.on("positions along the batch") else self.pe[0, : len(x), None])
        return self.decoder(self.encoder(x)[:, -1])


def window(rng):
    return Program(Window(), (badak.tensor(rng.standard_normal((B, T, 3)).astype("f")),), kind="image")


# ------------------------------------------------------------------ 11. a classifier of texts with a mask; (logits, pooled)


class TextNet(Part):
    switches = ("positions",)

    def __init__(self):
        super().__init__()
        self.word, self.place, self.kinds = nn.Embedding(V, D, padding_idx=0), nn.Embedding(16, D), nn.Embedding(2, D)
        self.layers = nn.ModuleList([ViTTextBlock() for _ in range(2)])
        self.pooler, self.classifier = nn.Linear(D, D), nn.Linear(D, 4)

    def forward(self, ids, mask, segments):
        x = self.word(ids) + self.kinds(segments)
        if self.on("positions"):
            x = x + self.place(badak.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x, mask == 0)
        pooled = self.pooler(x[:, 0]).tanh()
        return self.classifier(pooled), pooled


class ViTTextBlock(ViTBlock):
    def forward(self, x, hide):
        n = self.norm1(x)
        x = self.join("residual attn", x, self.attn(n, n, n, key_padding_mask=hide)[0])
        return self.join("residual mlp", x, self.mlp(self.norm2(x)))


def text_net(rng):
    x = padded(rng)
    return Program(TextNet(), (x, (x != 0).long(), badak.zeros(B, T, dtype=badak.long)), kind="bidirectional")


# ------------------------------------------------------------------ 12. gates and adaptors that start at zero


class ZeroBlock(LectureBlock):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(badak.zeros(1))
        self.lora_A, self.lora_B = nn.Linear(D, 4, bias=False), nn.Linear(4, D, bias=False)
        nn.init.zeros_(self.lora_B.weight)
        nn.init.zeros_(self.ffwd[2].weight)

    def forward(self, x):
        y = self.ln1(x)
        x = self.join("residual attn", x, self.gate * (self.sa(y) + self.lora_B(self.lora_A(y))))
        return self.join("residual mlp", x, self.ffwd(self.ln2(x)))


class ReZero(Bigram):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[ZeroBlock() for _ in range(2)])

    def forward(self, idx):
        return super().forward(idx)[0].view(*idx.shape, V)


def zeros_at_first(rng):
    return Program(ReZero(), (ids(rng, 0),))


# ------------------------------------------------------------------ 13. ALBERT: one layer, used for all


class Albert(Part):
    """One layer is shared by all depths, as in ALBERT."""

    def __init__(self):
        super().__init__()
        self.word, self.up, self.place = nn.Embedding(V, 8), nn.Linear(8, D), nn.Embedding(16, D)
        self.shared_layer, self.num_hidden_layers = ViTBlock(), 3
        self.answer = nn.Linear(D, V)

    def forward(self, ids, labels):
        x = self.up(self.word(ids)) + self.place.weight[: ids.shape[1]]
        for _ in range(self.num_hidden_layers):
            x = self.shared_layer(x)
        logits = self.answer(x)
        return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100), logits


def albert(rng):
    x = ids(rng, 1)
    labels = badak.where(badak.tensor(rng.random((B, T)) < 0.3), x, badak.full_like(x, -100))
    return Program(Albert(), (badak.where(labels != -100, badak.zeros_like(x), x), labels), kind="bidirectional")


# ------------------------------------------------------------------ 14. (T, B), as PyTorch's tutorial has it


class Tutorial(Part):
    switches = ("positions along the batch",)

    def __init__(self):
        super().__init__()
        place = badak.arange(16)[:, None].float()
        div = badak.exp(badak.arange(0, D, 2).float() * (-math.log(10000.0) / D))
        pe = badak.zeros(16, 1, D)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = (place * div).sin(), (place * div).cos()
        self.register_buffer("pe", pe)
        self.embedding = nn.Embedding(V, D)
        self.transformer_encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, H, 64, 0.2), 2)
        for p in self.transformer_encoder.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.linear = nn.Linear(D, V)

    def forward(self, src, src_mask=None):
        x = self.embedding(src) * math.sqrt(D)
        x = x + (self.pe[: x.shape[0]] if self.on("positions along the batch") else self.pe[: x.shape[1], 0])
        src_mask = badak.full((len(src), len(src)), float("-inf")).triu(1)
        return self.linear(self.transformer_encoder(x, src_mask))


def tutorial(rng):
    return Program(Tutorial(), (ids(rng, 0).t().contiguous(),))


# ------------------------------------------------------------------ 15. outputs one shorter than the text


class Shifted(NanoGPT):
    def forward(self, tokens):
        return super().forward(tokens, tokens)[0][:, :-1]


def shorter(rng):
    return Program(Shifted(), (ids(rng, 0),))


# ------------------------------------------------------------------ 16. (logits, cache)


class Remembers(Part):
    switches = ("positions", "cache positions")

    def __init__(self):
        super().__init__()
        self.table, self.places = nn.Embedding(V, D), nn.Embedding(16, D)
        self.qs, self.ks, self.vs = (nn.ModuleList([nn.Linear(D, D) for _ in range(2)]) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, V)

    def forward(self, ids, cache=None):
        first = 0 if cache is None else cache[0][0].shape[1]
        h = self.table(ids)
        if self.on("positions"):
            h = h + self.places(badak.arange(ids.shape[1]) + first * self.on("cache positions"))
        new = []
        for i, (q, k, v) in enumerate(zip(self.qs, self.ks, self.vs)):
            n = self.norm(h)
            k, v = k(n), v(n)
            if cache is not None:
                k, v = badak.cat([cache[i][0], k], 1), badak.cat([cache[i][1], v], 1)
            new.append((k, v))
            keep = badak.ones(ids.shape[1], k.shape[1]).tril(first).bool()
            h = h + (q(n) @ k.transpose(1, 2) / D**0.5).masked_fill(~keep, -badak.inf).softmax(-1) @ v
        return self.head(h), tuple(new)


def remembers(rng):
    return Program(Remembers(), (ids(rng, 0),))
