"""Picked and added entries: the compiled kernels give the bits of the plain ones, in their order."""

import numpy as np
import pytest

from badak.kernels import numba, reference
from tests.tiers import looped

SHAPES = [
    ((90, 70), 60, 1),
    ((90, 70), 80, 0),
    ((6, 11, 130), 20, 1),
    ((20, 3, 5), 50, 1),
    ((9, 4, 200), 150, 2),
    ((2, 3, 40, 50), 4, 1),
]
NAMES = "gather", "scatter_add", "index_add"


def inputs(shape, count, dim, dtype):
    rng = np.random.default_rng(len(shape) + dim)
    sizes = (*shape[:dim], count, *shape[dim + 1 :])
    x, src = (rng.standard_normal(size).astype(dtype) for size in (shape, sizes))
    return x, rng.integers(0, shape[dim], sizes), src, rng.integers(0, shape[dim], count)


def made(kernels, name, x, index, src, places, dim):
    if name == "gather":
        return kernels.gather(x, index, dim)
    y = x.copy()
    getattr(kernels, name)(y, places if name == "index_add" else index, src, dim)
    return y


@pytest.mark.parametrize("name", NAMES)
@looped(sizes=SHAPES, dtype=[np.float32, np.float64])
def test_the_bits_are_those_of_the_plain_kernel(name, sizes, dtype):
    shape, count, dim = sizes
    given = inputs(shape, count, dim, dtype)
    assert given[2].size > 4096  # fewer are left to the plain kernel
    np.testing.assert_array_equal(made(numba, name, *given, dim), made(reference, name, *given, dim))


@pytest.mark.parametrize("name", NAMES)
@looped(wrong=[70, -71])
def test_a_place_outside_is_refused_and_nothing_is_written_there(name, wrong):
    x, index, src, places = inputs((90, 70), 60, 1, np.float32)
    index[3, 4] = places[5] = wrong
    with pytest.raises(IndexError):
        made(numba, name, x, index, src, places, 1)


@pytest.mark.parametrize("name", NAMES)
def test_other_layouts_and_a_smaller_index(name):
    x, index, src, places = inputs((90, 70), 60, 1, np.float32)
    turned = [np.asfortranarray(each) for each in (x, index, src)]
    np.testing.assert_array_equal(made(numba, name, *turned, places, 1), made(reference, name, x, index, src, places, 1))
    if name == "gather":
        np.testing.assert_array_equal(numba.gather(x, index[:80, ::2], 1), reference.gather(x, index[:80, ::2], 1))
