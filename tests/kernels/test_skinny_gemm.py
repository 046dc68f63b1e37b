"""A few rows times a matrix that is read in its own order: against NumPy's, at every remainder of rows, depth and width."""

import numpy as np
import pytest

from badak.kernels import numba as fast
from badak.kernels.numba import skinny_gemm
from badak.kernels.numba.gemm import product
from tests.tiers import looped

RANDOM = np.random.default_rng(0)


@looped(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("depth", [1, 7, 8, 9, 40])
@pytest.mark.parametrize("width", [16, 17, 31, 33, 512, 513, 1100])
def test_few_rows_are_numpys_product(dtype, depth, width):
    x, w, b = (RANDOM.standard_normal(shape).astype(dtype) for shape in ((6, depth), (depth, width), width))
    for rows in (1, 2, 6):
        for bias in (None, b):
            expected = x[:rows].astype(np.float64) @ w + (0 if bias is None else bias)
            np.testing.assert_allclose(skinny_gemm.few_rows(x[:rows], w, bias), expected, rtol=0, atol=3e-5)


def test_a_row_has_the_same_bits_in_any_company_and_any_part_of_the_columns():
    x, w = RANDOM.standard_normal((6, 90), np.float32), RANDOM.standard_normal((90, 1500), np.float32)
    six = skinny_gemm.few_rows(x, w)
    for row in range(6):
        assert skinny_gemm.few_rows(x[row : row + 1], w).tobytes() == six[row].tobytes()
    assert skinny_gemm.few_rows(x, w[:, 100:800]).tobytes() == np.ascontiguousarray(six[:, 100:800]).tobytes()


def test_strided_rows_and_what_is_left_to_tiles():
    x, w = RANDOM.standard_normal((90, 4), np.float32).T, RANDOM.standard_normal((180, 64), np.float32)
    np.testing.assert_allclose(skinny_gemm.few_rows(x, w[::2, :40]), x @ w[::2, :40], atol=1e-4)
    assert skinny_gemm.few_rows(x, w[::-2]) is None and skinny_gemm.few_rows(x, w[:90, ::2]) is None  # backwards, with gaps
    assert skinny_gemm.few_rows(x, np.broadcast_to(w[0], (90, 64))) is None  # one row again and again
    assert skinny_gemm.few_rows(x[:0], w[::2]) is None and skinny_gemm.few_rows(np.ones((7, 90), np.float32), w[::2]) is None


@looped(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("depth", [1, 15, 16, 17, 385, 800, 1024, 3072])  # the last two: rows that share places of the cache
@pytest.mark.parametrize("width", [1, 16, 17, 50])
def test_few_rows_have_the_bits_of_a_product_of_tiles(dtype, depth, width):
    x, w, b = (RANDOM.standard_normal(shape).astype(dtype) for shape in ((9, depth), (width, depth), width))
    for bias in (None, b):
        expected = product(np.empty((9, width), dtype), x, w.T, bias)
        for rows in (1, 2, 3, 4, 6):
            assert fast.linear(x[:rows], w, bias).tobytes() == expected[:rows].tobytes()
            assert fast.linear(x[:rows], np.ascontiguousarray(w.T).T, bias).tobytes() == expected[:rows].tobytes()
