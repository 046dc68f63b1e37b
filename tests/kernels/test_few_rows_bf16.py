"""A few rows times weights in bfloat16, which are read once: against the plain kernel, at every remainder."""

import numpy as np
import pytest

from badak.kernels import reference
from badak.kernels.half import BFLOAT16

fast = pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("kind", [np.dtype(np.float32), BFLOAT16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("size", [2, 3, 30, 32, 34, 70, 768, 4098])
def test_few_rows_are_the_plain_product(size, kind):
    w, b = RANDOM.standard_normal((23, size)).astype(BFLOAT16), RANDOM.standard_normal(23).astype(np.float32)
    for x in (RANDOM.standard_normal((4, size)).astype(np.float32), RANDOM.standard_normal((1, size)).astype(BFLOAT16)):
        for bias in (b, None):
            found, expected = fast.linear(x, w, bias, kind), reference.linear(x, w, bias, kind)
            assert found.dtype == kind
            off = np.abs(found.astype(np.float64) - expected.astype(np.float64))
            assert (off <= 1e-5 * size**0.5 + (2.0**-7 * np.abs(expected.astype(np.float64)) if kind == BFLOAT16 else 0)).all()


def test_a_row_has_the_same_bits_in_any_company_and_on_any_threads(threads):
    x, w = RANDOM.standard_normal((4, 600), np.float32), RANDOM.standard_normal((900, 600)).astype(BFLOAT16)
    with threads(1):
        four = fast.linear(x, w, None, x.dtype)
    for row in range(4):
        assert fast.linear(x[row : row + 1], w, None, x.dtype).tobytes() == four[row].tobytes()
    for count in (2, 4):
        with threads(count):
            assert fast.linear(x, w, None, x.dtype).tobytes() == four.tobytes()


@pytest.mark.parametrize("kind", [np.dtype(np.float32), BFLOAT16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("way", ["avx512_bf16", "float32"])
def test_few_rows_have_the_bits_of_a_product_of_tiles(way, kind):
    from badak.kernels.numba.bf16_gemm import WAYS

    if WAYS.why_not(way):
        pytest.skip(WAYS.why_not(way))
    with WAYS.use(way):
        for size in (2, 30, 32, 34, 770, 1030, 2050):
            w, b = RANDOM.standard_normal((39, size)).astype(BFLOAT16), RANDOM.standard_normal(39).astype(np.float32)
            x = RANDOM.standard_normal((9, size)).astype(np.float32)
            for bias in (b, None):
                many = fast.linear(x, w, bias, kind)
                for rows in range(1, 5):
                    assert fast.linear(x[:rows], w, bias, kind).tobytes() == many[:rows].tobytes()
