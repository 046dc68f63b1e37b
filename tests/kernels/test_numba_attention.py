"""The fast attention against its reference twin: masks, biases, dropout, shared key heads, layouts, edges."""

import tracemalloc

import numpy as np
import pytest

from badak.kernels import reference
from tests.kernels.twin import DTYPES, assert_close, fast_kernels, normal
from tests.tiers import looped

fast = fast_kernels()

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
#          B  H  G  T    S    D   E
SIZES = [
    (1, 1, 1, 1, 1, 1, 1),
    (2, 4, 2, 5, 7, 3, 6),
    (0, 2, 2, 3, 3, 4, 4),
    (1, 2, 1, 0, 3, 4, 4),
    (1, 2, 2, 3, 0, 4, 4),
    (2, 2, 2, 3, 4, 0, 3),
    (2, 3, 3, 70, 70, 16, 16),
    (1, 4, 1, 130, 200, 8, 8),
    (1, 1, 1, 150, 150, 8, 5),
]
LAYOUTS = {
    "heads outside": lambda x: x,
    "heads inside": lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3),
    "backwards": lambda x: x[..., ::-1],
}


def masks(B, H, T, S, dtype):
    """Options of a call by name; the third query of every `keep` sees nothing."""
    rng = np.random.default_rng(5)
    keep = rng.random((B, 1, T, S)) < 0.7
    keep[:, :, 2:3] = False
    drop = rng.random((B, H, T, S)) < 0.8
    bias = normal(6, H, T, S, dtype=dtype)
    hidden = np.where(rng.random((1, 1, T, S)) < 0.3, -np.inf, 0).astype(dtype)
    return {
        "plain": {},
        "causal": {"causal": 0},
        "later queries": {"causal": S - T},
        "sees little": {"causal": -2},
        "keep": {"keep": keep},
        "padding": {"keep": rng.random((B, 1, 1, S)) < 0.8, "causal": 1},
        "bias": {"bias": bias},
        "bias per query": {"bias": bias[..., :1]},
        "float mask": {"bias": hidden},
        "dropout": {"drop": drop, "p": 0.2},
        "all": {"keep": keep, "bias": bias, "causal": 3, "drop": drop, "p": 0.2, "scale": 0.3},
    }


def call_backward(kernels, q, k, v, dout, dweights, options):
    o = {"keep": None, "bias": None, "causal": None, "scale": None, "drop": None, "p": 0.0, **options}
    out, lse, _ = reference.attention(q, k, v, **o)
    return kernels.attention_backward(dout, dweights, q, k, v, lse, *o.values(), (True, True, True, o["bias"] is not None))


@each_dtype
@looped(layout=LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_attention_and_its_gradients(size, layout, dtype):
    B, H, G, T, S, D, E = size
    arrange = LAYOUTS[layout]
    q, k, v, dout = (
        arrange(normal(i, *shape, dtype=dtype)) for i, shape in enumerate([(B, H, T, D), (B, G, S, D), (B, G, S, E), (B, H, T, E)])
    )
    dweights = normal(4, B, H, T, S, dtype=dtype)
    before = [x.copy() for x in (q, k, v, dout, dweights)]
    for options in masks(B, H, T, S, dtype).values():
        out, lse, none = fast.attention(q, k, v, **options)
        *found, weights = fast.attention(q, k, v, want_weights=True, **options)
        assert none is None
        for one, same in zip(found, (out, lse)):
            np.testing.assert_array_equal(one, same)
        for one, other in zip((*found, weights), reference.attention(q, k, v, want_weights=True, **options)):
            assert_close(one, other, units=64, scale=1)
        for gradient in (None, dweights):
            for one, other in zip(
                call_backward(fast, q, k, v, dout, gradient, options),
                call_backward(reference, q, k, v, dout, gradient, options),
            ):
                assert (one is None) == (other is None)
                if one is not None:
                    assert_close(one, other, units=256, scale=1)
    for x, as_it_was in zip((q, k, v, dout, dweights), before):
        np.testing.assert_array_equal(x, as_it_was)


@each_dtype
def test_a_query_that_sees_nothing_gives_zeros_and_no_gradient(dtype):
    q, k, v = (normal(i, 1, 2, 5, 4, dtype=dtype) for i in range(3))
    keep = np.ones((1, 1, 5, 5), bool)
    keep[:, :, 3] = False
    out, lse, weights = fast.attention(q, k, v, keep=keep, want_weights=True)
    assert not out[:, :, 3].any() and not weights[:, :, 3].any() and (lse[:, :, 3] == -np.inf).all()
    dq, dk, dv, _ = call_backward(fast, q, k, v, np.ones_like(out), None, {"keep": keep})
    assert not dq[:, :, 3].any() and np.isfinite(dk).all() and np.isfinite(dv).all()


def test_nan_stays_in_its_own_query():
    q, k, v = (normal(i, 1, 1, 4, 4, dtype=np.float32) for i in range(3))
    q[0, 0, 2, 0] = np.nan
    out, lse, _ = fast.attention(q, k, v)
    assert np.isnan(out[0, 0, 2]).all() and np.isnan(lse[0, 0, 2]) and np.isfinite(out[0, 0, [0, 1, 3]]).all()


def test_heads_of_a_packed_projection_are_joined_again_without_a_copy():
    packed = normal(0, 2, 6, 3, 4, 8, dtype=np.float32)  # (B, T, 3, H, D)
    q, k, v = (packed[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    out, _, _ = fast.attention(q, k, v, causal=0)
    assert out.transpose(0, 2, 1, 3).flags.c_contiguous
    dq, dk, dv, _ = call_backward(fast, q, k, v, out, None, {"causal": 0})
    assert all(x.base is dq.base and x.strides == q.strides for x in (dq, dk, dv))  # as q, k and v lie
    assert np.array_equal(dq.base.transpose(2, 0, 3, 1, 4), [dq, dk, dv])
    apart = [normal(i, 2, 6, 4, 8, dtype=np.float32).transpose(0, 2, 1, 3) for i in range(3)]
    dq, dk, dv, _ = call_backward(fast, *apart, fast.attention(*apart)[0], None, {})
    assert all(x.transpose(0, 2, 1, 3).flags.c_contiguous for x in (dq, dk, dv))


def test_the_scores_of_the_whole_batch_are_never_held():
    q = normal(0, 4, 8, 512, 16, dtype=np.float32)
    fast.attention(q[:, :, :2], q, q)  # compiled before it is measured
    tracemalloc.start()
    fast.attention(q, q, q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * 512 * 512 * 4 / 8
