"""Kernels that go over rows by registers: right at every length, and nothing next to a row is touched."""

import importlib

import numpy as np
import pytest

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from tests.kernels.twin import assert_close, fast_kernels, normal
from tests.tiers import looped

fast = fast_kernels()
softmax = importlib.import_module("badak.kernels.numba.softmax")

LENGTHS = [*range(1, 36), 47, 48, 49, 63, 64, 65, 79, 80, 81, 100, 127, 128, 129, 200]


ONES = np.ones(200, np.float32)
ROWS = [
    fast.softmax,
    fast.log_softmax,
    lambda x: fast.layer_norm(x, ONES[: x.shape[1]], ONES[: x.shape[1]], 1e-5)[0],
    lambda x: fast.rms_norm(x, ONES[: x.shape[1]], 1e-5)[0],
]


def _targets(n, classes):
    return np.arange(n) * 7 % classes


def _results(kernels, x):
    """What every kernel makes of rows x, by name."""
    target = _targets(*x.shape)
    loss, lse = kernels.cross_entropy(x, target)
    w, b = np.linspace(0.5, 1.5, x.shape[1]).astype(loss.dtype), np.linspace(-1, 1, x.shape[1]).astype(loss.dtype)
    normed = kernels.layer_norm(x, w, b, 1e-5)
    scaled = kernels.rms_norm(x, w, 1e-5)
    dloss = np.linspace(0.5, 1, len(x)).astype(loss.dtype)
    dy = (x[::-1] / 3).astype(x.dtype)
    return {
        "softmax_backward": kernels.softmax_backward(dy, kernels.softmax(x)),
        "log_softmax_backward": kernels.log_softmax_backward(dy, kernels.log_softmax(x)),
        "layer_norm_backward": kernels.layer_norm_backward(dy, x, w, *normed[1:], (True, False, False))[0],
        "rms_norm_backward": kernels.rms_norm_backward(dy, x, w, scaled[1], (True, False))[0],
        "softmax": kernels.softmax(x),
        "log_softmax": kernels.log_softmax(x),
        "loss": loss,
        "lse": lse,
        **dict(zip(("layer_norm", "mean", "rstd"), normed)),
        **dict(zip(("rms_norm", "rrms"), scaled)),
        "layer_norm of nothing more": kernels.layer_norm(x, None, None, 1e-5)[0],
        "dlogits": kernels.cross_entropy_backward(dloss, x, target, lse, None, -100, 0.0),
        "dlogits, smoothed": kernels.cross_entropy_backward(dloss, x, target, lse, None, -100, 0.1),
    }


@looped(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_every_length_are_plains(dtype, length):
    x = 3 * normal(length, 5, length, dtype=dtype)
    expected = _results(reference, x)
    for name, found in _results(fast, x).items():
        assert_close(found, expected[name], scale=4.0)


@pytest.mark.slow
@pytest.mark.parametrize("length", [(1 << 16) + 1, (1 << 20) + 17])
def test_long_rows_lose_no_digits(length):
    x = normal(1, 2, length, dtype=np.float32) + np.float32(3)
    expected = _results(reference, x.astype(np.float64))
    for name, found in _results(fast, x).items():
        assert np.abs(found - expected[name]).max() <= 1e-6 * np.abs(expected[name]).max(), name


@pytest.mark.parametrize("length", [1, 15, 16, 17, 63, 65, 100])
def test_rows_of_bfloat16_are_those_of_float32_rounded_once(length):
    x = normal(length, 5, length).astype(BFLOAT16)
    for y, wide in ((kernel(x), kernel(x.astype(np.float32))) for kernel in ROWS):
        assert y.dtype == BFLOAT16 and y.tobytes() == wide.astype(BFLOAT16).tobytes()


@looped(dtype=[np.float32, BFLOAT16])
@pytest.mark.parametrize("length", [1, 15, 17, 33, 65, 100])
@pytest.mark.parametrize("name", ["softmax_rows", "log_softmax_rows"])
def test_what_lies_beside_a_row_is_neither_read_nor_written(dtype, length, name):
    around = np.full(3 * length + 200, np.nan, dtype)
    x, y = around.copy(), around.copy()
    inside = slice(100, 100 + 3 * length)
    x[inside] = normal(length, 3 * length)
    getattr(softmax, name)(1, 1, y[inside].reshape(3, length), x[inside].reshape(3, length), 3)
    assert np.isfinite(y[inside].astype(np.float32)).all()
    y[inside] = np.nan
    assert y.tobytes() == around.tobytes()


@pytest.mark.parametrize("length", [5, 16, 100])
@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_row_with_a_nan_or_infinity_is_plains_and_its_neighbours_do_not_see_it(length, place, value):
    x = normal(length, 3, length, dtype=np.float32)
    clean = _results(fast, x)
    x[1, place] = value
    expected = _results(reference, x)
    for name, found in _results(fast, x).items():
        np.testing.assert_array_equal(found[1], expected[name][1], name)  # NaN, zero or infinity
        assert found[0].tobytes() == clean[name][0].tobytes() and found[2].tobytes() == clean[name][2].tobytes(), name


@pytest.mark.parametrize("length", [5, 16, 100])
def test_a_row_of_minus_infinity_is_nan_and_one_number_of_it_takes_no_share(length):
    x = np.full((2, length), -np.inf, np.float32)
    x[1, :3] = 1
    y = fast.softmax(x)
    assert np.isnan(y[0]).all() and np.isclose(y[1, :3], 1 / 3).all() and not y[1, 3:].any()
    assert np.isneginf(fast.log_softmax(x)[1, 3:]).all()
