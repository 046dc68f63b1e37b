"""Attention in NumPy against PyTorch's scaled_dot_product_attention and against the formula written out."""

import math
import sys
import tracemalloc

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from badak.kernels import reference
from tests.kernels.twin import DTYPES, assert_close, normal, strided, twin
from tests.tiers import looped

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
B, H, T, S, D, E = 2, 4, 3, 5, 6, 2
UNITS = 64  # a score is a sum of D products, a value one of S: sqrt(D S) roundings, and exp on both sides


def formula(q, k, v, bias, keep=None, causal=None, scale=None, drop=None, p=0.0):
    """out and weights, in PyTorch, with zeros where nothing is to be seen."""
    heads = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(heads, 1), v.repeat_interleave(heads, 1)
    s = q @ k.transpose(-1, -2) * (1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale)
    visible = torch.ones(s.shape, dtype=torch.bool)
    if keep is not None:
        visible = visible & torch.from_numpy(keep)
    if causal is not None:
        visible = visible & torch.ones(s.shape[-2:], dtype=torch.bool).tril(causal)
    s = (s if bias is None else s + bias).masked_fill(~visible, -math.inf)
    dead = (s == -math.inf).all(-1, keepdim=True)
    weights = torch.softmax(s.masked_fill(dead, 0.0), -1).masked_fill(dead, 0.0)
    if drop is not None:
        weights = weights * torch.from_numpy(drop) / (1 - p)
    return weights @ v, weights


def inputs(dtype, groups=H, bias=None, sizes=(B, T, S)):
    b, t, s = sizes
    q, k, v = (
        normal(0, b, H, t, D, dtype=dtype),
        normal(1, b, groups, s, D, dtype=dtype),
        normal(2, b, groups, s, E, dtype=dtype),
    )
    return q, k, v, None if bias is None else normal(3, *bias, dtype=dtype)


def masks():
    rng = np.random.default_rng(5)
    keep = rng.random((B, 1, T, S)) < 0.6
    keep[0, 0, 1] = False  # a dead row for every head
    return keep, rng.random((B, H, T, S)) < 0.7


KEEP, DROP = masks()
CASES = {
    "bare": {},
    "causal": {"causal": 0},
    "causal with a past": {"causal": 2},
    "causal into the future": {"causal": -1},  # the first query sees nothing
    "keep": {"keep": KEEP},
    "keep for keys": {"keep": KEEP[:, :, :1]},
    "bias": {"bias": (B, H, T, S)},
    "bias (T, S)": {"bias": (T, S)},
    "bias (H, 1, 1)": {"bias": (H, 1, 1)},
    "bias (B, 1, 1, S)": {"bias": (B, 1, 1, S)},
    "bias of one number": {"bias": (1,)},
    "shared heads": {"groups": 2},
    "one key head": {"groups": 1, "keep": KEEP, "bias": (H, T, S)},
    "scale": {"scale": 0.3},
    "dropout": {"drop": DROP, "p": 0.3},
    "everything": {"groups": 2, "keep": KEEP, "bias": (1, 1, T, S), "causal": 1, "scale": 0.7, "drop": DROP, "p": 0.3},
}


@each_dtype
@looped(layout=[np.array, strided])
@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_attention_and_its_gradients(name, with_weights, layout, dtype):
    options = dict(CASES[name])
    q, k, v, bias = inputs(dtype, options.pop("groups", H), options.pop("bias", None))
    dout, dweights = normal(6, B, H, T, E, dtype=dtype), normal(7, B, H, T, S, dtype=dtype) if with_weights else None
    (out, weights), grads = twin(lambda *x: formula(*x, **options), [q, k, v, bias], [dout, dweights])

    q, k, v = layout(q), layout(k), layout(v)
    found, lse, found_weights = reference.attention(q, k, v, bias=bias, want_weights=with_weights, **options)
    assert_close(found, out, UNITS)
    assert lse.shape == (B, H, T)
    if with_weights:
        assert_close(found_weights, weights, UNITS)
    rest = [options.get(key) for key in ("causal", "scale", "drop")]
    dxs = reference.attention_backward(
        layout(dout),
        dweights,
        q,
        k,
        v,
        lse,
        options.get("keep"),
        bias,
        *rest,
        options.get("p", 0.0),
        (True, True, True, bias is not None),
    )
    for dx, expected in zip(dxs, grads):
        assert (dx is None) == (expected is None)
        if dx is not None:
            assert_close(dx, expected, UNITS, scale=1.0)


@each_dtype
def test_attention_is_pytorchs_scaled_dot_product_attention(dtype):
    q, k, v, bias = inputs(dtype, bias=(T, S))
    (out,), _ = twin(F.scaled_dot_product_attention, [q, k, v])
    assert_close(reference.attention(q, k, v)[0], out, UNITS)
    (out,), _ = twin(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [q, k, v])
    assert_close(reference.attention(q, k, v, causal=0)[0], out, UNITS)
    (out,), _ = twin(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), [q, k, v, bias])
    assert_close(reference.attention(q, k, v, bias=bias)[0], out, UNITS)


def test_a_query_that_sees_nothing_gives_zeros_and_zero_gradients():
    q, k, v, _ = inputs(np.float64)
    out, lse, weights = reference.attention(q, k, v, keep=KEEP, want_weights=True)
    assert not out[0, :, 1].any() and not weights[0, :, 1].any()
    assert (lse[0, :, 1] == -np.inf).all()
    dq, dk, dv, _ = reference.attention_backward(
        np.ones_like(out), None, q, k, v, lse, KEEP, None, None, None, None, 0.0, (True, True, True, False)
    )
    assert not dq[0, :, 1].any()
    assert np.isfinite(dk).all() and np.isfinite(dv).all()


def test_the_log_sum_exp_is_that_of_the_scores_before_dropout():
    q, k, v, _ = inputs(np.float64)
    expected = torch.logsumexp(torch.from_numpy(q) @ torch.from_numpy(k).transpose(-1, -2) / math.sqrt(D), -1)
    assert_close(reference.attention(q, k, v, drop=DROP, p=0.3)[1], expected.numpy())


@pytest.mark.parametrize("sizes", [(0, T, S), (B, 0, S), (B, T, 0), (1, 1, 1)])
def test_attention_over_empty_axes(sizes):
    q, k, v, _ = inputs(np.float32, sizes=sizes)
    out, lse, weights = reference.attention(q, k, v, causal=0, want_weights=True)
    b, t, s = sizes
    assert out.shape == (b, H, t, E) and lse.shape == (b, H, t) and weights.shape == (b, H, t, s)
    if s == 0:
        assert not out.any() and (lse == -np.inf).all()
    dxs = reference.attention_backward(out, None, q, k, v, lse, None, None, 0, None, None, 0.0, (True, True, True, False))
    assert [dx.shape for dx in dxs[:3]] == [q.shape, k.shape, v.shape]


def test_huge_scores_choose_the_largest_and_lose_no_digits():
    q = np.array([[[[1000.0, 0.0]]]], np.float32)
    k = np.array([[[[30.0, 0.0], [30.001, 0.0], [-30.0, 0.0]]]], np.float32)
    v = normal(0, 1, 1, 3, 2, dtype=np.float32)
    dout = normal(1, 1, 1, 1, 2, dtype=np.float32)
    (expected,), grads = twin(lambda q, k, v: formula(q, k, v, None, scale=1.0)[0], [q, k, v], [dout])
    out, lse, _ = reference.attention(q, k, v, scale=1.0)
    assert_close(out, expected, UNITS)
    dxs = reference.attention_backward(dout, None, q, k, v, lse, None, None, None, 1.0, None, 0.0, (True, True, True, False))
    for dx, expected in zip(dxs, grads):
        assert_close(dx, expected, UNITS, scale=float(np.abs(k).max()))


def test_a_bias_of_minus_infinity_masks():
    q, k, v, _ = inputs(np.float64)
    bias = np.where(KEEP, 0.0, -np.inf)
    expected = reference.attention(q, k, v, keep=KEEP)
    for found, one in zip(reference.attention(q, k, v, bias=bias)[:2], expected[:2]):
        np.testing.assert_array_equal(found, one)


def test_only_what_is_needed_is_returned():
    q, k, v, bias = inputs(np.float64, bias=(T, S))
    out, lse, weights = reference.attention(q, k, v, bias=bias)
    assert weights is None
    for number in range(4):
        needs = tuple(i == number for i in range(4))
        found = reference.attention_backward(out, None, q, k, v, lse, None, bias, None, None, None, 0.0, needs)
        assert tuple(dx is not None for dx in found) == needs


def test_a_big_batch_is_taken_in_blocks_with_the_same_bits(monkeypatch):
    q, k, v, bias = inputs(np.float32, bias=(B, 1, T, S))

    def both():
        out, lse, _ = reference.attention(q, k, v, bias=bias)
        return (
            out,
            lse,
            *reference.attention_backward(out, None, q, k, v, lse, None, bias, None, None, None, 0.0, (True,) * 4),
        )

    whole = both()
    monkeypatch.setattr(sys.modules["badak.kernels.reference.attention"], "BLOCK", 1)
    for found, expected in zip(both(), whole):
        np.testing.assert_array_equal(found, expected)


def test_the_scores_of_a_whole_batch_are_never_held(monkeypatch):
    monkeypatch.setattr(sys.modules["badak.kernels.reference.attention"], "BLOCK", 1)
    q = normal(0, 32, 1, 128, 4, dtype=np.float32)
    tracemalloc.start()
    try:
        reference.attention(q, q, q)
        assert tracemalloc.get_traced_memory()[1] < 32 * 128 * 128 * 4
    finally:
        tracemalloc.stop()
