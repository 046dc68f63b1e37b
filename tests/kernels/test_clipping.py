"""Norms and limits of many arrays: fast against reference, against double precision, on any number of threads and memory."""

import math

import numpy as np
import pytest

from badak.kernels import reference
from tests.kernels.twin import fast_kernels, normal

fast = fast_kernels()

SHAPES = [(4, 3), (), (0, 2), (40_000,), (5,), (129, 130)]
BOTH = pytest.mark.parametrize("kernels", [reference, fast], ids=["reference", "numba"])
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def arrays(dtype, scale=1.0):
    return [np.asarray(normal(i, *shape, dtype=dtype) * scale, dtype) for i, shape in enumerate(SHAPES)]


def loose(grads):
    """With gaps, in Fortran's order, and two that share memory."""
    base = np.repeat(grads[3], 2)
    return [np.asfortranarray(grads[0]), *grads[1:3], base[::2], base[1::2], np.array(grads[5].T).T]


def exact(grads, p):
    every = np.concatenate([abs(x.astype(np.float64)).reshape(-1) for x in grads])
    return every.max() if p == math.inf else math.sqrt((every * every).sum())


@DTYPES
@BOTH
@pytest.mark.parametrize("p", [2.0, math.inf])
@pytest.mark.parametrize("scale", [1.0, 1e25, 1e-25])
@pytest.mark.parametrize("form", [list, loose])
def test_the_norm_is_that_of_double_precision_even_where_squares_leave_the_range(kernels, dtype, p, scale, form):
    grads = form(arrays(dtype, scale))
    norm = kernels.norm_all(grads, p, {})
    assert norm.shape == () and norm.dtype == dtype
    np.testing.assert_allclose(norm, exact(grads, p), rtol=4 * np.finfo(dtype).eps)


@DTYPES
@BOTH
@pytest.mark.parametrize("form", [list, loose])
@pytest.mark.parametrize("most", [0.5, 1e9, 0.0])
def test_arrays_shrink_to_the_limit_and_no_further(kernels, dtype, form, most):
    grads = form(arrays(dtype))
    norm, before = kernels.norm_all(grads, 2.0, {}), [x.copy() for x in grads]
    kernels.shrink_all(grads, norm, most, {})
    factor = min(1, most / (norm + dtype(1e-6)))
    for x, old in zip(grads, before):
        np.testing.assert_array_equal(x, old * dtype(factor))


@BOTH
@pytest.mark.parametrize("p", [2.0, math.inf])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_shows_and_spreads(kernels, p, bad):
    grads = arrays(np.float32)
    grads[3][17] = bad
    norm = kernels.norm_all(grads, p, {})
    assert math.isnan(norm) if math.isnan(bad) else norm == math.inf
    kernels.shrink_all(grads, norm, 1.0, {})
    assert math.isnan(grads[3][17])
    assert np.isnan(grads[0]).all() if math.isnan(bad) else (grads[0] == 0).all()


@DTYPES
@BOTH
@pytest.mark.parametrize("form", [list, loose])
@pytest.mark.parametrize("low, high", [(-0.1, 0.1), (0.1, -0.1), (0.0, math.inf)])
def test_limits_are_those_of_numpy(kernels, dtype, form, low, high):
    grads = form(arrays(dtype))
    grads[0][1, 1] = math.nan
    expected = [np.minimum(np.maximum(x, dtype(low)), dtype(high)) for x in grads]
    kernels.limit_all(grads, low, high)
    for x, y in zip(grads, expected):
        np.testing.assert_array_equal(x, y)


def test_one_two_and_four_threads_give_the_same_bits(threads):
    results = []
    for count in (1, 2, 4):
        with threads(count):
            grads = arrays(np.float32)
            norm = fast.norm_all(grads, 2.0, {})
            fast.shrink_all(grads, norm, 1.0, {})
            fast.limit_all(grads, -0.001, 0.001)
            results.append([norm.tobytes(), *(x.tobytes() for x in grads)])
    assert results[0] == results[1] == results[2]


def test_a_replay_plays_only_what_kernels_do_alone():
    grads = arrays(np.float32)
    assert fast.clip_kept(grads) and fast.clip_kept(grads, math.inf)
    assert not fast.clip_kept(grads, 3.0) and not fast.clip_kept(loose(grads)) and not reference.clip_kept(grads)
