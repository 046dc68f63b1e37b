"""TransformerDecoder with a cache: the numbers of the whole text, chunk by chunk; what it keeps, and what it refuses."""

import numpy as np
import pytest

import badak
from badak import nn
from badak.core.errors import ArgumentError, GraphError, IndexOutOfRangeError, ShapeError

B, T, S, C, H, L = 3, 7, 5, 16, 4, 2
EPS = np.finfo(np.float32).eps
BOUND = 64 * EPS  # outputs of a norm are about 1; each of the two ways rounds some dozen sums of at most 32 products
PADDED = badak.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] * 4 + [True]])


def decoder(norm_first=True, batch_first=True, dtype=None, **more):
    badak.manual_seed(0)
    layer = nn.TransformerDecoderLayer(C, H, 32, 0.1, norm_first=norm_first, batch_first=batch_first, dtype=dtype, **more)
    return nn.TransformerDecoder(layer, L, nn.LayerNorm(C, dtype=dtype), independent_init=True).eval()


def drawn(*shape, seed=1):
    return badak.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def same(got, wanted, bound=BOUND):
    np.testing.assert_allclose(got.float().numpy(), wanted.float().numpy(), rtol=0, atol=bound)


@badak.no_grad()
def in_chunks(model, tgt, memory, chunks, cache=None, axis=1, **masks):
    cache = cache or nn.KeyValueCache(L, tgt.shape[axis])
    return badak.cat([model(x, memory, cache=cache, **masks) for x in tgt.split(chunks, dim=axis)], dim=axis)


@pytest.mark.parametrize("chunks", [[7], [1] * 7, [3, 1, 3]])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_chunks_give_the_numbers_of_the_whole_text(chunks, norm_first, batch_first):
    model, axis = decoder(norm_first, batch_first), 1 if batch_first else 0
    shape = (lambda n: (B, n, C)) if batch_first else (lambda n: (n, B, C))
    tgt, memory = drawn(*shape(T)), drawn(*shape(S), seed=2)
    with badak.no_grad():
        whole = model(tgt, memory, tgt_is_causal=True, memory_key_padding_mask=PADDED)
    same(in_chunks(model, tgt, memory, chunks, axis=axis, memory_key_padding_mask=PADDED), whole)


def test_a_text_without_a_batch():
    model, tgt, memory = decoder(), drawn(T, C), drawn(S, C, seed=2)
    with badak.no_grad():
        whole = model(tgt, memory, tgt_is_causal=True)
    same(in_chunks(model, tgt, memory, [4, 1, 2], axis=0), whole)


@pytest.mark.filterwarnings("ignore:.*no visible key")
def test_targets_that_begin_at_different_places():
    """What stands before a text is hidden: the mask grows with the text."""
    model, tgt, memory = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2)
    hidden = badak.arange(T) < badak.tensor([[0], [2], [3]])  # (B, T)
    with badak.no_grad():
        whole = model(tgt, memory, tgt_is_causal=True, tgt_key_padding_mask=hidden, memory_key_padding_mask=PADDED)
        cache, parts, at = nn.KeyValueCache(L, T), [], 0
        for chunk in tgt.split([4, 1, 2], dim=1):
            at += chunk.shape[1]
            masks = {"tgt_key_padding_mask": hidden[:, :at], "memory_key_padding_mask": PADDED}
            parts.append(model(chunk, memory, cache=cache, **masks))
    for row, begin in enumerate((0, 2, 3)):
        same(badak.cat(parts, dim=1)[row, begin:], whole[row, begin:])


def test_a_mask_of_memory_is_that_of_the_new_tokens():
    model, tgt, memory, mask = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), drawn(T, S, seed=3)
    with badak.no_grad():
        whole = model(tgt, memory, tgt_is_causal=True, memory_mask=mask)
        cache = nn.KeyValueCache(L, T)
        parts = [model(tgt[:, i : i + 1], memory, memory_mask=mask[i : i + 1], cache=cache) for i in range(T)]
    same(badak.cat(parts, dim=1), whole)


def test_a_mask_that_says_all_by_itself():
    model, tgt, memory, mask = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), badak.Mask.causal() & badak.Mask.window(3)
    with badak.no_grad():
        whole = model(tgt, memory, mask)
    same(in_chunks(model, tgt, memory, [3, 1, 3], tgt_mask=mask), whole)


@pytest.mark.parametrize("rows", [[2, 0, 0], [1, 1, 0, 2, 2, 2], [1]])
def test_rows_that_are_taken_go_on_with_their_memory(rows):
    """As beams do: as many rows as before, more, or fewer."""
    model, tgt, memory, rows = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), badak.tensor(rows)
    with badak.no_grad():
        whole = model(tgt[rows], memory[rows], tgt_is_causal=True, memory_key_padding_mask=PADDED[rows])
    cache = nn.KeyValueCache(L, T)
    in_chunks(model, tgt[:, :4], memory, [3, 1], cache, memory_key_padding_mask=PADDED)
    cache.take(rows)
    for beside in (memory[rows], cache.memory):  # made by the caller, or the cache's own
        rest = in_chunks(model, tgt[rows, 4:], beside, [1, 2], cache, memory_key_padding_mask=PADDED[rows])
        same(rest, whole[:, 4:])
        cache.rewind(4)


def test_keys_of_the_memory_are_computed_once(monkeypatch):
    from badak.nn import attention

    seen, linear = [], attention.linear
    monkeypatch.setattr(attention, "linear", lambda x, *rest: seen.append(x.shape[1]) or linear(x, *rest))
    in_chunks(decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), [1] * T)
    assert seen.count(S) == 2 * L  # keys and values of each layer; the rest are single tokens
    assert set(seen) == {1, S}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
def test_compiled_steps_follow_the_cache():
    """Other sentences, other lengths of them, beams that change rows: the bits that it has without compiling."""
    model = decoder()
    step = badak.compile(lambda x, memory, cache: model(x, memory, cache=cache))
    cache, twin, order = nn.KeyValueCache(L, 8), nn.KeyValueCache(L, 8), np.random.default_rng(0)
    with badak.no_grad():
        for number in range(10):
            memory = drawn(B, 4 if number % 3 == 2 else S, C, seed=number)
            for place in range(3):
                x = drawn(B, 1, C, seed=100 * number + place)
                got, wanted = step(x, memory, cache), model(x, memory, cache=twin)
                assert got.numpy().tobytes() == wanted.numpy().tobytes(), (number, place)
                rows = badak.tensor(order.integers(0, B, B))
                cache.take(rows), twin.take(rows)
                memory = memory[rows]
            cache.rewind(), twin.rewind()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
def test_a_recorded_step_reads_the_memory_that_it_is_given():
    """Of another length, too; and after a step by hand that left other rows in the cache."""
    model = decoder()
    step = badak.compile(lambda x, memory, cache: model(x, memory, cache=cache))
    cache, twin, replayed = nn.KeyValueCache(L, 8), nn.KeyValueCache(L, 8), 0
    with badak.no_grad():
        for number in range(16):
            memory, x = drawn(B, 4 if number == 9 else S, C, seed=number), drawn(B, 4, C, seed=100 + number)
            got, wanted = step(x, memory, cache), model(x, memory, cache=twin)
            assert got.numpy().tobytes() == wanted.numpy().tobytes(), number
            replayed += bool(step.recordings) and step.fallback_reason == ""
            cache.take(badak.tensor([2, 0, 1]))
            cache.rewind(), twin.rewind()
    assert replayed > 4


def test_bfloat16():
    model = decoder(dtype=badak.bfloat16)
    tgt, memory = drawn(B, T, C).bfloat16(), drawn(B, S, C, seed=2).bfloat16()
    with badak.no_grad():
        whole = model(tgt, memory, tgt_is_causal=True)
    same(in_chunks(model, tgt, memory, [3, 1, 3]), whole, 2**-5)  # numbers near 1 of 8 bits, rounded in each of some dozen steps


def test_one_layer_alone():
    layer, tgt, memory = decoder().layers[0], drawn(B, T, C), drawn(B, S, C, seed=2)
    cache, parts = nn.KeyValueCache(1, T), []
    with badak.no_grad():
        whole = layer(tgt, memory, tgt_is_causal=True)
        for x in tgt.split([5, 2], dim=1):
            parts.append(layer(x, memory, cache=cache))
            cache.advance(x.shape[1])
    same(badak.cat(parts, dim=1), whole)


def test_another_memory_in_the_middle_of_a_text_is_refused():
    model, tgt, memory, cache = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), nn.KeyValueCache(L, T)
    in_chunks(model, tgt[:, :2], memory, [2], cache)
    for other in (memory + 1, memory[:, :4]):
        with pytest.raises(ArgumentError, match=r"is not the one whose keys and values are kept, \(3, 5, 16\)\nfix: cache.rewind"):
            in_chunks(model, tgt[:, 2:3], other, [1], cache)
    assert cache.length == 2
    in_chunks(model, tgt[:, 2:3], memory.clone(), [1], cache)  # equal is good enough
    cache.rewind()
    with badak.no_grad():
        whole = model(tgt, memory + 1, tgt_is_causal=True)
    same(in_chunks(model, tgt, memory + 1, [4, 3], cache), whole)


def test_a_memory_that_was_changed_in_place_is_refused():
    model, tgt, memory, cache = decoder(), drawn(B, T, C), drawn(B, S, C, seed=2), nn.KeyValueCache(L, T)
    in_chunks(model, tgt[:, :2], memory, [2], cache)
    memory += 1
    with pytest.raises(ArgumentError, match="is not the one whose keys and values are kept"):
        in_chunks(model, tgt[:, 2:3], memory, [1], cache)


REFUSED = {
    "layers": (ArgumentError, r"a cache of 3 layers for a decoder of 2\nfix: nn.KeyValueCache\(2, max_length=9\)",
               lambda m, t, s: m(t, s, cache=nn.KeyValueCache(3, 9))),
    "a mask": (ArgumentError, "a tgt_mask that is not the causal one\nfix: leave tgt_mask out",
               lambda m, t, s: m(t, s, badak.zeros(T, T), cache=nn.KeyValueCache(2, 9))),
    "max_length": (IndexOutOfRangeError, r"length 0 \+ 7 new tokens > max_length 4\nfix: a cache with max_length=7",
             lambda m, t, s: m(t, s, cache=nn.KeyValueCache(2, 4))),
    "padding": (ShapeError, r"key_padding_mask \(3, 6\): with a cache of 0 tokens expected \(3, 7\)\nfix: \(batch, tokens read",
                lambda m, t, s: m(t, s, tgt_key_padding_mask=badak.zeros(B, 6, dtype=badak.bool), cache=nn.KeyValueCache(2, 9))),
    "batch": (ShapeError, r"the batch number of tgt and memory must be equal",
              lambda m, t, s: m(t, s[:2], cache=nn.KeyValueCache(2, 9))),
    "weights": (ArgumentError, "MultiheadAttention: a cache, and need_weights=True\nfix: leave out the one or the other",
                lambda m, t, s: m.layers[0].self_attn(t, t, t, cache=nn.KeyValueCache(2, 9))),
    "causal across": (ArgumentError, "a cache, and is_causal=True in attention to another text\nfix: ",
                      lambda m, t, s: m(t, s, memory_is_causal=True, cache=nn.KeyValueCache(2, 9))),
    "no memory before": (ArgumentError, "layer 1 is given a memory, but had none with the first 2 tokens\nfix: cache.rewind()",
                         lambda m, t, s: half_read().cross_attention(1, s, lambda: (s, s))),
}  # fmt: skip


def half_read():
    cache, x = nn.KeyValueCache(2, 9), badak.zeros(B, H, 2, 4)
    cache.attend(0, x, x, x), cache.attend(1, x, x, x), cache.advance(2)
    return cache


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_name_cause_and_fix(what):
    error, text, call = REFUSED[what]
    with badak.no_grad(), pytest.raises(error, match=text) as told:
        call(decoder(), drawn(B, T, C), drawn(B, S, C, seed=2))
    assert len(str(told.value).split("\n")) <= 2


def test_a_wanted_gradient_is_refused():
    with pytest.raises(GraphError, match=r"a gradient is wanted.*\nfix: with badak.no_grad\(\)"):
        decoder()(drawn(B, T, C), drawn(B, S, C, seed=2), cache=nn.KeyValueCache(L, T))
