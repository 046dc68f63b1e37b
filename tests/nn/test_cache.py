"""KeyValueCache: causal attention in chunks, shared key heads, and what it refuses."""

import numpy as np
import pytest

import badak
from badak import kernels, nn
from badak.core.errors import DTypeError, GraphError, IndexOutOfRangeError, ShapeError
from badak.nn import functional as F


@pytest.mark.parametrize("kernels_in_use", ["reference", "numba"])
@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("chunks", [[9], [1] * 9, [4, 1, 4], [2, 7]])
def test_attention_in_chunks_is_causal_attention(chunks, groups, kernels_in_use):
    q, k, v = badak.randn(2, 4, 9, 8), badak.randn(2, groups, 9, 8), badak.randn(2, groups, 9, 6)
    cache = nn.KeyValueCache(1, max_length=9)
    with kernels.use(kernels_in_use):
        whole = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        parts = []
        for chunk in zip(*(x.split(chunks, dim=2) for x in (q, k, v))):
            parts.append(cache.attend(0, *chunk))
            cache.advance(chunk[0].shape[2])
    # a score sums D = 8 products, a value is an average of at most 9: roundings of a half eps, of numbers below max |v|,
    # and the error of a score (about sqrt(D) large) is a relative one of its weight
    bound = (8 * 8**0.5 + 2 * 9) * np.finfo(np.float32).eps * v.abs().max().item()
    np.testing.assert_allclose(badak.cat(parts, dim=2).numpy(), whole.numpy(), rtol=0, atol=bound)


def test_one_token_goes_the_way_without_masks(monkeypatch):
    called = []
    chosen = kernels.of(np.zeros(1, np.float32)).attention
    module = kernels.of(np.zeros(1, np.float32))
    monkeypatch.setattr(module, "attention", lambda *args: called.append(args[3:6]) or chosen(*args))
    cache = nn.KeyValueCache(1, max_length=5)
    for T in (3, 1, 1):
        cache.attend(0, *(badak.randn(1, 2, T, 4) for _ in range(3)))
        cache.advance(T)
    assert called == [(None, None, 0), (None, None, None), (None, None, None)]


def test_layers_are_kept_apart_and_written_in_place():
    cache = nn.KeyValueCache(2, max_length=4)
    x = badak.randn(1, 2, 3, 4)
    first, second = cache.attend(0, x, x, x), cache.attend(1, x, x, 2 * x)
    np.testing.assert_array_equal(second.numpy(), 2 * first.numpy())
    before = [x.data_ptr() for pair in cache._kept for x in pair]
    cache.advance(3)
    cache.attend(0, *[badak.randn(1, 2, 1, 4)] * 3)
    assert before == [x.data_ptr() for pair in cache._kept for x in pair]


def test_its_printed_form_says_what_is_in_it():
    assert repr(filled()) == "KeyValueCache(layers=1, max_length=4, length=3)"


def filled() -> nn.KeyValueCache:
    cache = nn.KeyValueCache(1, max_length=4)
    cache.attend(0, *[badak.randn(2, 3, 3, 4)] * 3)
    cache.advance(3)
    return cache


@pytest.mark.parametrize(
    "shape, dtype, error, cause",
    [
        (
            (2, 3, 2, 4),
            badak.float32,
            IndexOutOfRangeError,
            r"length 3 \+ 2 new tokens > max_length 4\nfix: a cache with max_length=5",
        ),
        (
            (1, 3, 1, 4),
            badak.float32,
            ShapeError,
            r"\(1, 3, 1, 4\) does not fit .*batch=2.*\nfix: .* each batch of texts",
        ),
        ((2, 1, 1, 4), badak.float32, ShapeError, r"\(2, 1, 1, 4\) does not fit .*heads=3.*\nfix: .* each model"),
        ((2, 3, 1, 8), badak.float32, ShapeError, r"\(2, 3, 1, 8\) does not fit .*head_dim=4\)\nfix: .* each model"),
        ((2, 3, 1, 4), badak.float64, DTypeError, r"key is float64, those kept are float32\nfix: a new cache"),
    ],
)
def test_keys_unlike_those_kept_are_refused_and_nothing_is_changed(shape, dtype, error, cause):
    cache = filled()
    before = [x.numpy().tobytes() for x in cache._kept[0]]
    with pytest.raises(error, match=cause) as told:
        cache.attend(0, *[badak.randn(shape, dtype=dtype)] * 3)
    assert len(str(told.value).split("\n")) == 2
    assert cache.length == 3 and before == [x.numpy().tobytes() for x in cache._kept[0]]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_wanted_gradient_is_refused(which):
    qkv = [badak.randn(1, 2, 1, 4, requires_grad=i == which) for i in range(3)]
    with pytest.raises(GraphError, match=r"a gradient is wanted.*\nfix: with badak.no_grad\(\)"):
        nn.KeyValueCache(1, max_length=4).attend(0, *qkv)
    with badak.no_grad():
        nn.KeyValueCache(1, max_length=4).attend(0, *qkv)


@pytest.mark.parametrize("layer", [-1, 1])
def test_a_layer_that_is_not_there_is_refused(layer):
    with pytest.raises(IndexOutOfRangeError, match=rf"layer {layer} of 1\nfix: layer in 0..0"):
        filled().attend(layer, *[badak.randn(2, 3, 1, 4)] * 3)


@pytest.mark.parametrize("length", [-1, 4])
def test_nothing_is_forgotten_that_was_not_read(length):
    with pytest.raises(IndexOutOfRangeError, match=rf"rewind: length {length} of 3 read\nfix: length in 0..3"):
        filled().rewind(length)


@pytest.mark.parametrize("layers, max_length", [(0, 4), (2, 0)])
def test_a_cache_for_nothing_is_refused(layers, max_length):
    with pytest.raises(ShapeError, match=r"expected layers and max_length of at least 1; got layers="):
        nn.KeyValueCache(layers, max_length)


def test_tokens_count_as_read_only_once_every_layer_has_kept_them():
    cache, (q, k, v) = nn.KeyValueCache(2, max_length=4), [badak.randn(1, 2, 3, 4)] * 3
    cause = r"advance: 3 tokens after the first 0, but layer {} has kept 0 of them\nfix: attend\(layer, q, k, v\) in each of the 2"
    with pytest.raises(IndexOutOfRangeError, match=cause.format(0)):
        cache.advance(3)
    cache.attend(0, q, k, v)
    with pytest.raises(IndexOutOfRangeError, match=cause.format(1)):
        cache.advance(3)
    cache.attend(1, q, k, v)
    cache.advance(2), cache.advance(1)
    assert cache.length == 3
    with pytest.raises(
        IndexOutOfRangeError, match=r"advance: 1 token after the first 3, but layer 0 has kept 0 of them\nfix: attend"
    ):
        cache.advance(1)
    with pytest.raises(IndexOutOfRangeError, match=r"advance: -1 tokens.*\nfix: rewind\(length\) goes back"):
        cache.advance(-1)
    cache.rewind(1)
    with pytest.raises(IndexOutOfRangeError, match="layer 0 has kept 0 of them"):
        cache.advance(2)
    assert cache.length == 1


def test_a_shorter_chunk_given_again_leaves_nothing_of_the_longer_one():
    cache = nn.KeyValueCache(1, max_length=4)
    for T in (3, 2):
        cache.attend(0, *[badak.randn(1, 2, T, 4)] * 3)
    with pytest.raises(IndexOutOfRangeError, match="3 tokens after the first 0, but layer 0 has kept 2 of them"):
        cache.advance(3)


@pytest.mark.parametrize("rewinds", [True, False])
def test_a_replay_counts_what_layers_have_kept(rewinds):
    cache, advance = nn.KeyValueCache(1, max_length=4), badak.compile(lambda T: cache.advance(T))

    @badak.compile
    def attend(x):
        cache.rewind()
        with badak.no_grad():
            return cache.attend(0, x, x, x)

    for _ in range(8):
        attend(badak.randn(1, 2, 3, 4))
        advance(3)
        assert cache.length == 3
        if rewinds:
            cache.rewind(0)
        with pytest.raises(IndexOutOfRangeError, match="layer 0 has kept 0 of them"):
            advance(3)
    assert attend.recordings and advance.recordings
