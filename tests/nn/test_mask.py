"""Mask against tables of booleans made by hand, in every place that takes a mask, forward and backward; and what it refuses."""

import copy
import pickle

import numpy as np
import pytest
import torch

import badak
from badak import Mask, kernels, nn
from badak.core.errors import ArgumentError, ArgumentTypeError, BadakError, DTypeError, ShapeError
from badak.nn import functional as F
from tests.compare import assert_close


class Drawn:
    """A Mask drawn at random, and `sees(b, i, j)`: the same said of one query and one key by plain Python."""

    def __init__(self, rng, B, T, S, depth=3):
        self.sizes = B, T, S
        kinds = ["causal", "padding", "window", "prefix", "given"] + (["and", "or", "not"] * 3 if depth else [])
        getattr(self, f"_{rng.choice(kinds)}")(rng, depth)

    def _causal(self, rng, depth):
        self.mask, self.sees = Mask.causal(), lambda b, i, j: j <= i

    def _padding(self, rng, depth):
        B, _, S = self.sizes
        ids, pad = rng.integers(0, 3, (B, S)), int(rng.integers(0, 3))
        if rng.random() < 0.2:
            self.mask, self.sees = Mask.padding(badak.tensor(ids[0]), pad), lambda b, i, j: ids[0][j] != pad
        else:
            self.mask, self.sees = Mask.padding(badak.tensor(ids), pad), lambda b, i, j: ids[b][j] != pad

    def _window(self, rng, depth):
        k = int(rng.integers(1, 5))
        self.mask, self.sees = Mask.window(k), lambda b, i, j: abs(i - j) < k

    def _prefix(self, rng, depth):
        n = int(rng.integers(0, 6))
        self.mask, self.sees = Mask.prefix(n), lambda b, i, j: j < n

    def _given(self, rng, depth):
        B, T, S = self.sizes
        shape = [(T, S), (B, T, S), (1, 1, T, S), (B, 1, 1, S), (T, 1)][rng.integers(5)]
        x = rng.random(shape) < 0.5
        full, hides = np.broadcast_to(x if x.ndim != 3 else x[:, None], (B, 1, T, S)), bool(rng.random() < 0.5)
        self.mask = Mask.of(hide=badak.tensor(x)) if hides else Mask.of(keep=badak.tensor(x))
        self.sees = lambda b, i, j: bool(full[b, 0, i - (S - T), j]) != hides

    def _and(self, rng, depth):
        a, b = (Drawn(rng, *self.sizes, depth - 1) for _ in range(2))
        self.mask, self.sees = a.mask & b.mask, lambda *at: a.sees(*at) and b.sees(*at)

    def _or(self, rng, depth):
        a, b = (Drawn(rng, *self.sizes, depth - 1) for _ in range(2))
        self.mask, self.sees = a.mask | b.mask, lambda *at: a.sees(*at) or b.sees(*at)

    def _not(self, rng, depth):
        a = Drawn(rng, *self.sizes, depth - 1)
        self.mask, self.sees = ~a.mask, lambda *at: not a.sees(*at)

    def table(self) -> np.ndarray:
        """(B, T, S), True = seen; queries are the last of the keys' places."""
        B, T, S = self.sizes
        return np.array([[[self.sees(b, S - T + i, j) for j in range(S)] for i in range(T)] for b in range(B)], bool)


def draws(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        S = int(rng.integers(1, 8))
        yield rng, Drawn(rng, int(rng.integers(1, 4)), int(rng.integers(1, S + 1)), S)


def test_drawn_masks_are_what_they_say():
    for _, drawn in draws(300):
        B, T, S = drawn.sizes
        seen = drawn.mask.keep(T, S)
        full = np.broadcast_to(seen.numpy() if seen.dim() == 4 else seen.numpy()[None, None], (B, 1, T, S))[:, 0]
        np.testing.assert_array_equal(full, drawn.table(), err_msg=str(drawn.mask))
        np.testing.assert_array_equal(drawn.mask.hide(T, S).numpy(), ~seen.numpy())


def grads(y, *xs):
    return [y, *badak.autograd.grad((y * badak.arange(y.numel()).reshape(y.shape).sin()).sum(), xs)]


@pytest.mark.filterwarnings("ignore:.*no visible key", "ignore:every position in this batch is padding")
@pytest.mark.parametrize("kernel_set", ["reference", "numba"])
def test_attention_is_that_of_the_table_and_of_pytorch(kernel_set):
    with kernels.use(kernel_set):
        for rng, drawn in draws(60, seed=1):
            B, T, S = drawn.sizes
            arrays = [rng.standard_normal((B, 2, n, 4)).astype(np.float32) for n in (T, S, S)]
            q, k, v = (badak.tensor(x, requires_grad=True) for x in arrays)
            table = drawn.table()[:, None]
            ours = grads(F.scaled_dot_product_attention(q, k, v, drawn.mask), q, k, v)
            by_hand = grads(F.scaled_dot_product_attention(q, k, v, badak.tensor(table)), q, k, v)
            theirs = [torch.tensor(x, requires_grad=True) for x in arrays]
            y = torch.nn.functional.scaled_dot_product_attention(*theirs, torch.tensor(table))
            (y * torch.arange(y.numel()).reshape(y.shape).sin()).sum().backward()
            seen = table.any(-1, keepdims=True)  # PyTorch gives NaN gradients where a query sees nothing
            for a, b in zip(ours, by_hand):
                assert_close(a.detach().numpy(), b.detach().numpy(), units=64, size=4.0)
            if seen.all():
                for a, b in zip(ours, [y.detach(), *(x.grad for x in theirs)]):
                    assert_close(a.detach().numpy(), b.numpy(), units=64, size=4.0)


@pytest.mark.filterwarnings("ignore:.*no visible key", "ignore:every position in this batch is padding")
def test_attention_of_other_ranks_takes_the_batch_first():
    for rng, drawn in draws(40, seed=2):
        B, T, S = drawn.sizes
        for lead in [(), (B,), (B, 3, 2)]:
            if lead or drawn.mask.keep(T, S).dim() == 2:
                q, k, v = (badak.tensor(rng.standard_normal((*lead, n, 4)).astype(np.float32)) for n in (T, S, S))
                table = badak.tensor(drawn.table() if len(lead) < 2 else drawn.table()[:, None, None])
                wanted = F.scaled_dot_product_attention(q, k, v, table if lead else table[0])
                found = F.scaled_dot_product_attention(q, k, v, drawn.mask)
                assert_close(found.numpy(), wanted.numpy(), units=64)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*no visible key", "ignore:every position in this batch is padding")
@pytest.mark.parametrize("options", [{}, {"add_zero_attn": True}, {"add_bias_kv": True}])
def test_multihead_attention_takes_it_in_both_places(options):
    for rng, drawn in draws(25, seed=3):
        B, T, S = drawn.sizes
        attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)
        q, k = (badak.tensor(rng.standard_normal((B, n, 8)).astype(np.float32), requires_grad=True) for n in (T, S))
        hide = badak.tensor(~drawn.table()).repeat_interleave(2, dim=0)
        wanted = grads(attention(q, k, k, attn_mask=hide)[0], q, k, *attention.parameters())
        weights = attention(q, k, k, attn_mask=hide)[1]
        for given in ({"attn_mask": drawn.mask}, {"key_padding_mask": drawn.mask}, dict.fromkeys(BOTH, drawn.mask)):
            for a, b in zip(grads(attention(q, k, k, **given)[0], q, k, *attention.parameters()), wanted):
                assert_close(a.detach().numpy(), b.detach().numpy(), units=256, size=4.0)
            assert_close(attention(q, k, k, **given)[1].detach().numpy(), weights.detach().numpy(), units=256, size=4.0)
        padding = rng.random((B, S)) < 0.3
        both = badak.tensor(~drawn.table() | padding[:, None]).repeat_interleave(2, dim=0)
        found = attention(q, k, k, badak.tensor(padding), attn_mask=drawn.mask)[0]
        assert_close(found.detach().numpy(), attention(q, k, k, attn_mask=both)[0].detach().numpy(), units=256, size=4.0)
        causal = both | badak.ones(T, S, dtype=badak.bool).triu(1)
        found = attention(q, k, k, badak.tensor(padding), attn_mask=drawn.mask, is_causal=True)[0]
        assert_close(found.detach().numpy(), attention(q, k, k, attn_mask=causal)[0].detach().numpy(), units=256, size=4.0)


@pytest.mark.filterwarnings("ignore:.*no visible key", "ignore:every position in this batch is padding")
def test_the_transformer_takes_it_wherever_it_takes_a_mask():
    model = nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, batch_first=True)
    for rng, drawn in draws(10, seed=4):
        B, T, S = drawn.sizes
        own, pads = Drawn(rng, B, S, S), Mask.padding(badak.tensor(rng.integers(0, 3, (B, S))))
        hidden = pads.hide(S)[:, 0, 0]
        src, tgt = (badak.tensor(rng.standard_normal((B, n, 8)).astype(np.float32), requires_grad=True) for n in (S, T))
        source, across = (badak.tensor(~d.table()).repeat_interleave(2, dim=0) for d in (own, drawn))
        ahead = badak.ones(T, T, dtype=badak.bool).triu(1)
        wanted = model(src, tgt, source, ahead, across, hidden, memory_key_padding_mask=hidden)
        found = model(src, tgt, own.mask, Mask.causal(), drawn.mask, pads, memory_key_padding_mask=pads)
        for a, b in zip(grads(found, src, tgt), grads(wanted, src, tgt)):
            assert_close(a.detach().numpy(), b.detach().numpy(), units=1024, size=1.0)


@pytest.mark.parametrize("chunks", [[9], [1] * 9, [4, 1, 4], [2, 7]])
def test_with_a_cache_each_part_is_as_in_the_whole(chunks):
    q, k, v = (badak.randn(2, 4, 9, 8) for _ in range(3))
    ids = badak.tensor([[0, 0, 5, 5, 5, 5, 5, 5, 5], [5] * 9])
    for make in (
        lambda S: Mask.causal(),
        lambda S: Mask.causal() & Mask.window(3),
        lambda S: Mask.causal() & Mask.padding(ids[:, :S]) | Mask.prefix(1),
        lambda S: Mask.causal() | Mask.prefix(2),
    ):
        whole, cache, parts, read = F.scaled_dot_product_attention(q, k, v, make(9)), nn.KeyValueCache(1, max_length=9), [], 0
        for chunk in zip(*(x.split(chunks, dim=2) for x in (q, k, v))):
            read += chunk[0].shape[2]
            parts.append(cache.attend(0, *chunk, keep=make(read)))
            cache.advance(chunk[0].shape[2])
        if chunks[0] > 1 or "prefix(2)" not in str(make(9)):  # a prefix is read at once
            assert_close(badak.cat(parts, dim=2).numpy(), whole.numpy(), units=64)


@pytest.mark.filterwarnings("ignore:.*no visible key")
@pytest.mark.parametrize("chunks", [[7], [1] * 7, [3, 2, 2]])
def test_a_decoder_with_a_cache_takes_masks_in_both_places(chunks):
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), 2).eval()
    x, memory, pads = badak.randn(2, 7, 8), badak.randn(2, 5, 8), Mask.padding(badak.tensor([[1, 1, 1, 0, 0], [1] * 5]))
    ids = badak.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7])
    ways = {
        "the whole mask": lambda n: (Mask.causal() & Mask.window(3) & Mask.padding(ids[:, :n]), None),
        "a Mask next to": lambda n: (Mask.causal() & Mask.window(3), Mask.padding(ids[:, :n])),
        "a tensor next to": lambda n: (Mask.causal() & Mask.window(3), ids[:, :n] == 0),
        "padding alone": lambda n: (None, Mask.padding(ids[:, :n])),
    }
    with badak.no_grad():
        for name, way in ways.items():
            mask, padding = way(7)
            whole = decoder(x, memory, Mask.causal() if mask is None else mask, None, padding, pads)
            cache, read, parts = nn.KeyValueCache(2, max_length=7), 0, []
            for part in x.split(chunks, dim=1):
                read += part.shape[1]
                mask, padding = way(read)
                parts.append(decoder(part, memory, mask, None, padding, pads, cache=cache))
            assert_close(badak.cat(parts, dim=1)[1:].numpy(), whole[1:].numpy(), units=512, size=4.0, what=name)
            assert_close(badak.cat(parts, dim=1)[0, 2:].numpy(), whole[0, 2:].numpy(), units=512, size=4.0, what=name)


def test_causal_goes_the_fast_way_without_a_table(monkeypatch):
    called = []
    module = kernels.of(np.zeros(1, np.float32))
    chosen = module.attention
    monkeypatch.setattr(module, "attention", lambda *args: called.append((args[3] is None, args[5])) or chosen(*args))
    x, pads = badak.randn(1, 2, 5, 4), Mask.padding(badak.tensor([[1, 1, 1, 1, 0]]))
    attention = nn.MultiheadAttention(4, 2)
    F.scaled_dot_product_attention(x, x, x, Mask.causal())
    F.scaled_dot_product_attention(x[:, :, :2], x, x, Mask.causal() & Mask.causal())
    F.scaled_dot_product_attention(x[:, :, :1], x, x, Mask.causal())
    F.scaled_dot_product_attention(x, x, x, pads & Mask.causal())
    attention(badak.randn(5, 1, 4), badak.randn(5, 1, 4), badak.randn(5, 1, 4), pads, attn_mask=Mask.causal(), is_causal=True)
    assert called == [(True, 0), (True, 3), (True, None), (False, 0), (False, 0)]


def test_a_compiled_step_takes_the_ids_of_each_call():
    step = badak.compile(lambda x, mask: F.scaled_dot_product_attention(x, x, x, mask))
    for row in ([1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]):
        x, mask = badak.randn(1, 1, 3, 2), Mask.causal() | Mask.padding(badak.tensor([row]))
        wanted = F.scaled_dot_product_attention(x, x, x, badak.tensor([row]).bool()[:, None, None] | badak.ones(3, 3).tril().bool())
        assert_close(step(x, mask).numpy(), wanted.numpy(), units=16)


def test_it_says_what_it_is_and_survives_copies():
    mask = ~(Mask.causal() | Mask.prefix(2)) & Mask.padding(badak.tensor([[1, 0]]), pad=1) & ~Mask.window(3)
    words = "~(Mask.causal() | Mask.prefix(2)) & Mask.padding(ids (1, 2), pad=1) & ~Mask.window(3)"
    assert str(mask) == str(copy.deepcopy(mask)) == str(pickle.loads(pickle.dumps(mask))) == words
    assert str(Mask.of(hide=badak.zeros(2, 3).bool())) == "Mask.of(hide=(2, 3))"


def test_a_picture_in_a_terminal():
    assert str((Mask.causal() & Mask.padding(badak.tensor([[1, 1, 0, 1], [0, 1, 1, 1]]))).show(2)) == (
        "Mask.causal() & Mask.padding(ids (2, 4), pad=0): 2 queries (rows) of 4 keys (columns), ■ seen\n"
        "batch 0\n2 ■ ■ · ·\n3 ■ ■ · ■\nbatch 1\n2 · ■ ■ ·\n3 · ■ ■ ■"
    )
    assert str(Mask.padding(badak.tensor([0, 0])).show()).endswith("2 of 2 queries see no key: attention gives zeros there")
    assert str(Mask.causal().show(100)).endswith("... the first 32 queries and 64 keys are shown")
    many = str(Mask.padding(badak.ones(9, 3, dtype=badak.long)).show())
    assert many.count("batch") == 5 and many.endswith("... and 5 more like these of the batch")


def test_a_picture_in_a_notebook():
    html = Mask.causal()._repr_html_()
    assert html.count("<td") == 64 and html.count(": seen") == 36 and "<td title='query 0, key 1: hidden'" in html
    assert Mask.causal().show(1000)._repr_html_().count("<td") == 32 * 64


X = badak.ones(2, 5, dtype=badak.long)
Q = badak.ones(2, 1, 5, 4)
BOTH = "attn_mask", "key_padding_mask"
OF = "fix: Mask.of(keep=x) where True = seen, Mask.of(hide=x) where True = hidden"


@pytest.mark.parametrize(
    "make, kind, cause, fix",
    [
        (lambda: Mask.padding([1, 2]), ArgumentTypeError, "ids must be a Tensor, not list", "badak.tensor(ids)"),
        (lambda: Mask.padding(X > 0), DTypeError, "got booleans, which are a mask already", "Mask.of(hide=x[:, None])"),
        (lambda: Mask.padding(X.float()), ShapeError, "got badak.float32 (2, 5)", "the ids of the tokens"),
        (lambda: Mask.padding(X[None]), ShapeError, "got badak.int64 (1, 2, 5)", "the ids of the tokens"),
        (lambda: Mask.window(0), ArgumentError, "an integer k of at least 1; got 0", "Mask.window(4)"),
        (lambda: Mask.prefix(-1), ArgumentError, "an integer n of at least 0; got -1", "Mask.prefix(4)"),
        (lambda: Mask.prefix(True), ArgumentError, "an integer n of at least 0; got True", "Mask.prefix(4)"),
        (lambda: Mask.of(), ArgumentError, "expected one of keep and hide", OF),
        (lambda: Mask.of(keep=X > 0, hide=X > 0), ArgumentError, "expected one of keep and hide", OF),
        (lambda: Mask.of(keep=X), DTypeError, "expected a Tensor of booleans; got a Tensor of badak.int64", "keep=(x != 0)"),
        (lambda: Mask.of(hide=3), DTypeError, "expected a Tensor of booleans; got int", "keep=(x != 0)"),
        (lambda: Mask.of(keep=X[0] > 0), ShapeError, "got (5,)", "x[:, None]"),
        (lambda: Mask.causal() & (X > 0), ArgumentTypeError, "a Tensor does not say whether True is seen or hidden", OF),
        (lambda: (X > 0) | Mask.causal(), ArgumentTypeError, "a Tensor does not say whether True is seen or hidden", OF),
        (lambda: Mask.causal() & 3, ArgumentTypeError, "only a Mask can be joined", OF),
        (lambda: Mask.causal() and Mask.prefix(2), ArgumentTypeError, "a Mask is neither true nor false", "a & b"),
        (lambda: not Mask.causal(), ArgumentTypeError, "a Mask is neither true nor false", "a & b"),
        (lambda: Mask.causal().keep(5, 3), ShapeError, "5 queries and 3 keys", "Mask.padding of that text's ids"),
        (lambda: Mask.window(2).keep(5, 3), ShapeError, "Mask.window(2): 5 queries and 3 keys", "Mask.padding of that text's ids"),
        (lambda: Mask.causal().keep(-1), ShapeError, "sizes of at least 0", "mask.keep(5, 8)"),
        (lambda: Mask.padding(X).keep(5, 7), ShapeError, "ids (2, 5) say nothing of 7 keys", "of those in a cache too"),
        (lambda: Mask.of(keep=X > 0).keep(3, 5), ShapeError, "other sizes than 3 queries and 5 keys", "a mask of these sizes"),
        (lambda: F.scaled_dot_product_attention(Q[:, :, :, :], Q[:, :, :3], Q[:, :, :3], Mask.causal()), ShapeError,
         "Mask.causal(): 5 queries and 3 keys", "Mask.padding of that text's ids"),
        (lambda: F.scaled_dot_product_attention(Q, Q, Q, Mask.causal(), is_causal=True), ArgumentError,
         "Explicit attn_mask should not be set", "attn_mask & Mask.causal()"),
        (lambda: F.scaled_dot_product_attention(Q, Q, Q, Mask.padding(badak.ones(3, 5, dtype=badak.long))), ShapeError,
         "a mask for a batch of 3, given to a batch of 2", "a mask made of the same batch"),
        (lambda: nn.MultiheadAttention(4, 2)(*[badak.ones(5, 3, 4)] * 3, Mask.padding(X)), ShapeError,
         "a mask for a batch of 2, given to a batch of 3", "a mask made of the same batch"),
        (lambda: Q.masked_fill(Mask.causal(), 0.0), ArgumentTypeError, "Mask", "masked_fill"),
    ],
)  # fmt: skip
def test_wrong_input_is_answered_in_two_lines(make, kind, cause, fix):
    with pytest.raises(kind) as told:
        make()
    assert isinstance(told.value, BadakError)
    first, second = str(told.value).split("\n")
    assert cause in first and second.startswith("fix: ") and fix.removeprefix("fix: ") in second


def test_a_mask_that_is_called_itself_says_how_masks_are_made():
    with pytest.raises(ArgumentTypeError, match="Mask: it is made by its functions") as caught:
        Mask(3)
    assert "Mask.causal()" in caught.value.fix
