"""exp, log and power of float32 are rounded once, in both sets and in every layout."""

import numpy as np
import pytest

from badak.kernels import reference
from tests.kernels.twin import fast_kernels

fast = fast_kernels()

EXTREMES = np.float32([np.inf, -np.inf, np.nan, 0, -0.0, 88.7, 88.8, -87.4, -103, -104, 1e30, -1e30, 1e-45, 1e-38, 3e38])
X = np.concatenate([30 * np.random.default_rng(0).standard_normal(20_000), np.linspace(0.9, 1.1, 999), EXTREMES])


@pytest.mark.parametrize("kernels", [reference, fast], ids=["reference", "numba"])
@pytest.mark.parametrize("name", ["exp", "log"])
def test_float32_is_off_by_half_a_unit_in_the_last_place(kernels, name):
    x = X.astype(np.float32)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        found, nearest = getattr(kernels, name)(x), exact.astype(np.float32)
        units = np.abs(found - exact) / np.spacing(np.abs(nearest))
    assert found.dtype == np.float32
    assert units[np.isfinite(nearest) & (np.abs(nearest) > 1.2e-38)].max() < 0.505
    odd = ~np.isfinite(nearest)
    np.testing.assert_array_equal(found[odd], nearest[odd])


@pytest.mark.parametrize("name", ["exp", "log"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_sets_agree_in_every_layout(name, dtype):
    rows = np.random.default_rng(1).random((30, 1000, 2)).astype(dtype)
    for x in (rows, rows.T, rows.swapaxes(0, 1), rows[::2, ::-1], rows[0, 0, 0:0], rows[0, 0, 0]):
        found, expected = getattr(fast, name)(x), getattr(reference, name)(x)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1.2e-7 if dtype == np.float32 else 0)
    assert getattr(fast, name)(rows.T).strides == rows.T.strides


def test_powers_of_float32_are_rounded_once():
    a, b = np.random.default_rng(2).random((2, 999)).astype(np.float32)
    np.testing.assert_array_equal(reference.power(a, b), (a.astype(np.float64) ** b).astype(np.float32))
    assert reference.power(np.float32(10_000), b).dtype == np.float32
    assert reference.power(a.reshape(-1, 1), b[:3]).shape == (999, 3)


def test_complex_numbers_go_the_usual_way():
    z = np.array([1 + 2j, -0.5j], np.complex64)
    np.testing.assert_array_equal(reference.exp(z), np.exp(z))
