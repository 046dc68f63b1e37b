"""What models of libraries do, and small programs do not: of each, nothing is said."""

from types import SimpleNamespace

import pytest

import badak
from badak import nn
from badak.nn import functional as F

V, C, H, D, WINDOW = 30, 16, 2, 8, 4


class Window:
    """A cache that keeps the last places alone, as transformers' for sliding windows."""

    is_sliding = True

    def __init__(self, keys):
        self.keys = keys[:, :, -WINDOW:]


class Attention(nn.Module):
    """Queries and keys are turned by their positions."""

    def __init__(self, size):
        super().__init__()
        self.q, self.kv, self.out = nn.Linear(C, C, bias=False), nn.Linear(C, 2 * C, bias=False), nn.Linear(C, C)
        with badak.no_grad():
            self.q.weight.mul_(size)
            self.kv.weight.mul_(size)

    def turned(self, x):
        angle = badak.arange(x.shape[2])[:, None] / 10 ** badak.arange(0, 1, 2 / D)
        cos, sin = (badak.cat([f(angle), f(angle)], -1) for f in (badak.cos, badak.sin))
        a, b = x.chunk(2, -1)
        return x * cos + badak.cat([-b, a], -1) * sin

    def forward(self, x, seen):
        n, t, _ = x.shape
        heads = lambda x: x.view(n, t, H, -1).transpose(1, 2)
        keys, value = heads(self.kv(x)).chunk(2, -1)
        keys = self.turned(keys)
        y = F.scaled_dot_product_attention(self.turned(heads(self.q(x))), keys, value, attn_mask=seen)
        return self.out(y.transpose(1, 2).reshape(n, t, C)), Window(keys)


class Reader(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.word, self.attention, self.head = nn.Embedding(V, C, padding_idx=0), Attention(size), nn.Linear(C, V)
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

    def forward(self, input_ids, attention_mask):
        x = self.word(input_ids)
        y, window = self.attention(x, attention_mask[:, None, None, :].bool())
        x = x + y
        first, second = self.up(x).split([C, 3 * C], -1)
        h = x.new_empty(*x.shape[:2], 4 * C)
        h[..., :C].copy_(first)
        h[..., C:] = second  # and nothing reads `first` but this tensor
        return self.head(x + self.down(F.gelu(h))), window


@pytest.mark.parametrize("size", [1.0, 0.02])  # small weights: the scores hardly tell places apart
def test_nothing_is_said_of_what_libraries_do(size):
    badak.manual_seed(0)
    ids = badak.randint(1, V, (4, 12))
    batch = {"input_ids": ids, "attention_mask": badak.ones_like(ids)}  # of a tokenizer that had nothing to fill up
    report = badak.audit(Reader(size), batch, kind="bidirectional")
    assert not report.findings, report


class Grouped(nn.Module):
    """Two queries for each key, scores that a configuration multiplies by 1, and a table whose padding is 0."""

    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(attention_multiplier=1.0)
        self.word, self.head = nn.Embedding(V, 4 * D, padding_idx=0), nn.Linear(4 * D, V, bias=False)
        self.q, self.k, self.v = (nn.Linear(4 * D, heads * D, bias=False) for heads in (4, 2, 2))

    def forward(self, input_ids):
        x = self.word(input_ids)
        split = lambda x: x.unflatten(-1, (-1, D)).transpose(1, 2)
        turn = lambda x: Attention.turned(self, x)
        q, k, v = turn(split(self.q(x))), turn(split(self.k(x))), split(self.v(x))
        k, v = (x.repeat_interleave(2, 1) for x in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.config.attention_multiplier)
        return self.head(x + y.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("seed", range(3))
def test_keys_of_fewer_heads_are_turned_as_queries_are_where_rows_end_in_padding(seed):
    badak.manual_seed(seed)
    report = badak.audit(Grouped(), badak.randint(1, V, (4, 12)))
    assert not report.findings and "rotary" in report.sound and "scale" in report.sound, report


class Sounds(nn.Module):
    """Takes labels that it does not read, as of a loss that is not asked for."""

    def __init__(self):
        super().__init__()
        self.read, self.qkv, self.head = nn.Linear(6, C), nn.Linear(C, 3 * C), nn.Linear(C, V)

    def forward(self, sounds, labels=None):
        x = self.read(sounds)
        x = x + badak.linspace(0, 1, x.shape[1])[:, None]
        q, k, v = (each.unflatten(-1, (H, -1)).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
        return self.head(x + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def test_labels_next_to_sounds_are_no_text():
    badak.manual_seed(0)
    batch = {"sounds": badak.randn(4, 10, 6), "labels": badak.randint(1, V, (4, 5))}
    report = badak.audit(Sounds(), batch)
    assert not report.findings and report.kind == "image", report


class Segments(nn.Module):
    """Remembers what its layers read, words first, and sees both sides, as XLNet; a bias of small weights tells distances."""

    def __init__(self):
        super().__init__()
        self.word, self.head, self.bias = nn.Embedding(V, C), nn.Linear(C, V), nn.Embedding(64, H)
        self.q, self.k, self.v = (nn.ModuleList(nn.Linear(C, C) for _ in range(2)) for _ in "qkv")
        nn.init.normal_(self.bias.weight, std=0.02)
        for weight in (*self.v.parameters(), *self.q.parameters()):
            nn.init.normal_(weight, std=0.02)

    def forward(self, input_ids, mems=None):
        x, kept = self.word(input_ids), []
        t, split = x.shape[1], lambda x: x.unflatten(-1, (H, -1)).transpose(1, 2)
        for i in range(2):
            kept.append(x)
            read = x if mems is None else badak.cat([mems[i], x], 1)
            far = badak.arange(read.shape[1])[None] - badak.arange(read.shape[1] - t, read.shape[1])[:, None]
            bias = self.bias(far + 32).permute(2, 0, 1)
            y = F.scaled_dot_product_attention(split(self.q[i](x)), split(self.k[i](read)), split(self.v[i](read)), attn_mask=bias)
            x = x + y.transpose(1, 2).flatten(2)
        return self.head(x), kept


def test_a_memory_of_what_layers_read_says_nothing_of_the_future():
    badak.manual_seed(0)
    report = badak.audit(Segments(), badak.randint(1, V, (4, 12)))
    assert not report.findings and report.kind == "unknown", report
