"""Convolutions and windows: the compiled kernels against the plain ones, for 1 to 3 axes, groups, strides, paddings and gaps."""

from itertools import product

import numpy as np
import pytest
import torch

from badak.kernels import numba as compiled
from badak.kernels import reference

SHAPES = [(1, 1, 3, 5), (3, 1, 4, 8), (2, 2, 3, 2), (2, 4, 1, 1), (17, 1, 8, 50)]  # examples, groups, channels of each in and out


def cases(axes, random):
    """(at, groups, x, w, dy, out) for each shape."""
    for (n, groups, inside, made), k, s, p, d in product(SHAPES, (1, 2, 3), (1, 2), (0, 1, 3), (1, 2)):
        size = tuple(int(each) for each in random.integers(5, 14, axes)) if axes < 3 else (5, 6, 7)
        out = tuple((each + 2 * p - d * (k - 1) - 1) // s + 1 for each in size)
        if min(out) > 0:
            x = random.standard_normal((n, groups * inside, *size))
            w = random.standard_normal((groups * made, inside, *(k,) * axes))
            dy = random.standard_normal((n, groups * made, *out))
            yield tuple((each,) * axes for each in (s, p, d)), groups, x, w, dy, out


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convolutions(axes, dtype):
    for at, groups, *arrays, out in cases(axes, np.random.default_rng(axes)):
        x, w, dy = (each.astype(dtype) for each in arrays)
        close = dict(rtol=2e-4, atol=2e-4) if dtype == "float32" else dict(rtol=1e-11, atol=1e-11)
        for name, given in {
            "conv": (x, w, at, groups, out),
            "conv_dx": (dy, w, at, groups, x.shape[2:]),
            "conv_dw": (dy, x, w.shape, at, groups),
        }.items():
            ours, plain = (getattr(of, name)(*given) for of in (compiled, reference))
            assert ours.flags.c_contiguous and ours.dtype == plain.dtype
            np.testing.assert_allclose(ours, plain, **close, err_msg=f"{name} {at} {groups} {x.shape} {w.shape}")


@pytest.mark.slow
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_windows_bit_for_bit(axes):
    """Cut out, put back, the largest of each and its place, among infinities, equals and NaN."""
    random = np.random.default_rng(axes)
    for at, _, x, w, _, out in cases(axes, random):
        x = random.choice([-np.inf, 0, 1, 2, np.nan], x.shape, p=[0.3, 0.3, 0.2, 0.15, 0.05]).astype(np.float32)
        kernel = w.shape[2:]
        cols = random.standard_normal((*x.shape[:2], *kernel, *out)).astype(np.float32)
        found = []
        for of in (compiled, reference):
            y, index = of.max_pool(x, kernel, *at, out)
            safe = np.maximum(index, 0)
            found.append((of.unfold(x, kernel, *at, out), of.fold(cols, x.shape[2:], *at), y, index))
            found[-1] += (of.max_pool_backward(cols[(slice(None),) * 2 + (0,) * axes], safe, x.shape[2:]),)
        for ours, plain in zip(*found):
            np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_of_long_lines_are_pytorchs(stride, dtype):
    """Lines of several registers and a rest, the last one of the array's memory; ties, infinities and NaN."""
    random = np.random.default_rng(stride)
    for kernel, padding, width in product((1, 2, 3), (0, 1), range(30, 75)):
        if 2 * padding > kernel:
            continue
        x = random.choice([-np.inf, -1, 0, 1, 2, np.nan], (2, 1, 3, width), p=[0.3, 0.2, 0.2, 0.2, 0.05, 0.05]).astype(dtype)
        y, index = torch.nn.functional.max_pool2d(torch.from_numpy(x), kernel, stride, padding, return_indices=True)
        at = tuple((each,) * 2 for each in (kernel, stride, padding, 1))
        found, places = compiled.max_pool(x, *at, tuple(y.shape[2:]))
        np.testing.assert_array_equal(found, y.numpy())
        np.testing.assert_array_equal(places, index.numpy())


def test_threads_change_no_bit():
    """Of a convolution and of its gradients."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal((3, 24, 30, 31)).astype("f"), random.standard_normal((40, 24, 3, 3)).astype("f")
    at, before, found = ((1, 1), (1, 1), (1, 1)), compiled.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            compiled.set_num_threads(threads)
            y = compiled.conv(x, w, at, 1, (30, 31))
            found.append((y, compiled.conv_dx(y, w, at, 1, (30, 31)), compiled.conv_dw(y, x, w.shape, at, 1)))
    finally:
        compiled.set_num_threads(before)
    for each in found[1:]:
        for ours, first in zip(each, found[0]):
            np.testing.assert_array_equal(ours, first)
