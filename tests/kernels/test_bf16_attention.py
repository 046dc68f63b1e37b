"""Attention in bfloat16: weights and their gradients are rounded where they are multiplied, nothing else but results."""

import numpy as np
import pytest

from badak.kernels import numba, reference
from badak.kernels.half import BFLOAT16
from badak.kernels.numba import bf16_gemm

HALF = 2.0**-8  # the rounding of bfloat16
# (B, H, G, T, S, D, E), what hides or shifts scores
CASES = [
    ((2, 3, 3, 33, 33, 64, 64), ""),
    ((2, 4, 2, 70, 50, 48, 40), "keep"),
    ((1, 2, 2, 130, 130, 64, 64), "causal weights"),
    ((2, 2, 1, 40, 70, 72, 8), "bias drop"),
    ((2, 2, 2, 1, 40, 32, 32), ""),
    ((2, 2, 2, 1, 40, 32, 32), "keep"),
    ((16, 2, 2, 5, 7, 8, 8), "keep causal"),
]


@pytest.fixture(params=[way.name for way in bf16_gemm.WAYS.ways])
def way(request):
    """Each way that can be gone here."""
    reason = bf16_gemm.WAYS.why_not(request.param)
    if reason:
        pytest.skip(f"{request.param}: {reason}")
    with bf16_gemm.WAYS.use(request.param):
        yield request.param


def case(sizes, what):
    B, H, G, T, S, D, E = sizes
    rng = np.random.default_rng(T + S)
    shapes = (B, H, T, D), (B, G, S, D), (B, G, S, E), (B, H, T, E)
    q, k, v, dout = (rng.standard_normal(shape).astype(BFLOAT16) for shape in shapes)
    keep = rng.random((B, 1, T, S)) > 0.2 if "keep" in what else None
    bias = rng.standard_normal((1, H, T, S)).astype(np.float32) if "bias" in what else None
    drop = rng.random((B, H, T, S)) > 0.1 if "drop" in what else None
    return (q, k, v), (keep, bias, 0 if "causal" in what else None, None), (drop, 0.1 if "drop" in what else 0.0), dout


def heads(x, count):
    """A key head for each query head."""
    return np.repeat(x, count // x.shape[1], axis=1)


def near(made, wanted, most):
    """Whether a rounded result is as near as it must be, with some room for float32."""
    return (np.abs(made.astype(np.float64) - wanted) <= 1.02 * (most + HALF * np.abs(wanted)) + 1e-5).all()


@pytest.mark.parametrize(("sizes", "what"), CASES)
def test_forward_and_backward(way, sizes, what):
    inputs, masks, dropped, dout = case(sizes, what)
    want, (T, D, H) = "weights" in what, (sizes[3], sizes[5], sizes[1])
    q, k, v, dy = (x.astype(np.float64) for x in (*inputs, dout))
    out, lse, weights = numba.attention(*inputs, *masks, *dropped, want)
    exact, exact_lse, a = reference.attention(q, k, v, *masks, *dropped, True)
    assert out.dtype == BFLOAT16 and lse.dtype == np.float32
    assert near(out, exact, HALF * (a @ np.abs(heads(v, H))))
    assert np.allclose(lse, exact_lse, atol=1e-5) and (not want or near(weights, a, 0))
    if T == 1:
        return
    dweights = np.random.default_rng(1).standard_normal(a.shape).astype(BFLOAT16) if want else None
    needs = True, True, True, masks[1] is not None
    made = numba.attention_backward(dout, dweights, *inputs, lse, *masks, *dropped, needs)
    wide = None if dweights is None else dweights.astype(np.float64)
    dq, dk, dv, dbias = reference.attention_backward(dy, wide, q, k, v, exact_lse, *masks, *dropped, needs)
    da = dy @ heads(v, H).swapaxes(-1, -2) + (0 if wide is None else wide)
    da, p = (da if dropped[0] is None else da * dropped[0] / 0.9), reference.attention(q, k, v, *masks, None, 0.0, True)[2]
    ds, scale = np.abs(p * (da - (p * da).sum(-1, keepdims=True))), D**-0.5
    shared = lambda x: x.reshape(x.shape[0], sizes[2], -1, *x.shape[2:]).sum(2)  # over the heads of a key head
    assert near(made[0], dq, HALF * scale * (ds @ np.abs(heads(k, H))))
    assert near(made[1], dk, HALF * scale * shared(ds.swapaxes(-1, -2) @ np.abs(q)))
    assert near(made[2], dv, HALF * shared(a.swapaxes(-1, -2) @ np.abs(dy)))
    assert made[3] is dbias or (made[3].dtype == np.float32 and np.allclose(made[3], dbias, atol=1e-4))


def test_the_same_bits_on_any_number_of_threads(way):
    inputs, masks, dropped, dout = case((3, 4, 4, 150, 150, 32, 32), "causal")
    before, bits = numba.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            numba.set_num_threads(threads)
            out, lse, _ = numba.attention(*inputs, *masks, *dropped)
            grads = numba.attention_backward(dout, None, *inputs, lse, *masks, *dropped, (True, True, True, False))
            bits.add(b"".join(x.tobytes() for x in (out, lse, *grads[:3])))
    finally:
        numba.set_num_threads(before)
    assert len(bits) == 1


def test_plain_means_the_same():
    inputs, masks, dropped, _ = case((2, 2, 2, 20, 30, 16, 16), "keep")
    out, lse, _ = reference.attention(*inputs, *masks, *dropped)
    exact = reference.attention(*(x.astype(np.float64) for x in inputs), *masks, *dropped)[0]
    assert out.dtype == BFLOAT16 and lse.dtype == np.float32 and near(out, exact, 0)
