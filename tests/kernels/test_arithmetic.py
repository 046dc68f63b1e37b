"""Sums, differences, products, quotients and choices by kernels: NumPy's bits, in NumPy's place, however the arrays lie."""

import threading

import numpy as np
import pytest

from badak import kernels
from badak.kernels import reference
from badak.kernels.memory_format import laid
from tests.kernels.twin import DTYPES, fast_kernels, normal

fast = fast_kernels()
UFUNCS = [np.add, np.subtract, np.multiply, np.divide]

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
each_ufunc = pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)


def same(found, expected):
    """Equal bits (NaN is NaN), dtype, and place in memory."""
    np.testing.assert_array_equal(found, expected, strict=True)
    assert found.strides == expected.strides or found.size <= 1
    np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(expected)[expected == 0])


def pairs(dtype):
    """Two operands: of one shape, stretched to each other, numbers, with gaps, turned, stretched already, of many axes."""
    a, b = normal(0, 4, 50, 96, dtype=dtype), normal(1, 4, 50, 96, dtype=dtype)
    a[0, 0, :6] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-38]
    b[0, 0, :6] = [0.0, np.inf, 1.0, -0.0, 0.0, 3e38]
    row, column, middle, one = b[1, 1], b[..., 3:4], b[:, :1], np.array(1.5, dtype)
    wide = np.broadcast_to(dtype(3.0), a.shape)  # as the gradient of a sum
    yield from [(a, b), (a, a), (a, row), (a, column), (a, middle), (a, one), (a[..., :1], row), (a, b[0])]
    yield from [(a, 2.5), (a, 3), (a, True), (a[0, 0], 0.1), (one, one), (one, 2.0)]
    yield from [(a[..., ::2], b[..., :48]), (a[:, ::2], b[:, :25]), (a[:, ::2], 1.5), (a[:, ::-1], b), (a[..., 5:], b[..., 2:-3])]
    yield from [(a.swapaxes(1, 2), b.swapaxes(1, 2)), (a.swapaxes(0, 2), 0.3), (a.swapaxes(1, 2), middle.swapaxes(1, 2))]
    yield from [(wide, 2.0), (wide, wide), (wide, b), (wide, row), (np.broadcast_to(row, a.shape), 2.0)]
    yield from [(a.reshape(2, 2, 5, 10, 12, 8), b.reshape(2, 2, 5, 10, 12, 8)[:, :1, :, :1, :, :1]), (a[:0], b[:0]), (a[:0], row)]
    long = normal(2, 70_001, dtype=dtype)
    yield from [(long, long[::-1].copy()), (long[1:], long[:-1]), (long[:, None], row[None]), (long, -2)]


@pytest.mark.slow
@each_ufunc
@each_dtype
def test_results_are_numpys_in_value_and_place(ufunc, dtype, threads):
    with threads(2):
        for a, b in pairs(dtype):
            for one, other in ((a, b), (b, a)):
                with np.errstate(all="ignore"):
                    expected = laid(np.asarray(ufunc(one, other)), one, other)
                same(np.asarray(fast.arithmetic(ufunc, one, other)), expected)


@pytest.mark.thin(4)
@pytest.mark.slow
@each_ufunc
@each_dtype
def test_results_go_into_the_memory_of_an_operand(ufunc, dtype, threads):
    with threads(2):
        for a, b in pairs(dtype):
            if a.shape != np.broadcast_shapes(a.shape, np.shape(b)) or a.size < 2 or 0 in a.strides:
                continue
            for turned in (False, True):
                base = np.empty((a.shape[0], *a.shape[1:]), dtype)
                for out in (base, np.asfortranarray(base), np.repeat(base, 2, -1)[..., ::2]):
                    out[...] = a
                    x = out if b is a else b
                    with np.errstate(all="ignore"):
                        expected = ufunc(b, a) if turned else ufunc(a, b)
                    assert fast.arithmetic(ufunc, *((x, out) if turned else (out, x)), out) is out
                    np.testing.assert_array_equal(out, expected)


@each_dtype
def test_an_operand_that_overlaps_the_result_is_read_first(dtype, threads):
    with threads(2):
        out = normal(0, 90_000, dtype=dtype)
        expected = out + out[::-1]
        np.testing.assert_array_equal(fast.arithmetic(np.add, out, out[::-1], out), expected)


@pytest.mark.slow
@each_dtype
def test_choices_are_numpys(dtype):
    for a, b in pairs(dtype):
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
        keep = np.random.default_rng(3).random(shape) < 0.5
        masks = [keep, keep.copy("F")]
        masks += [keep[..., :1], keep[:1], keep[..., :1, :]] if keep.ndim > 1 else []
        for mask in masks:
            for one, other in ((a, b), (b, a)):
                values = [x if isinstance(x, np.ndarray) else dtype(x) for x in (one, other)]
                arrays = [x for x in (mask, one, other) if isinstance(x, np.ndarray)]
                same(np.asarray(fast.where(mask, one, other)), laid(np.where(mask, *values), *arrays))


@each_dtype
def test_what_kernels_do_not_know_is_done_by_numpy(dtype):
    a = normal(0, 9, 70, dtype=dtype)
    same(fast.arithmetic(np.power, np.abs(a), 2.5), np.abs(a) ** 2.5)
    same(fast.arithmetic(np.add, a, a.astype(np.float64)), a + a.astype(np.float64))
    same(kernels.of(a.astype(int)).arithmetic(np.multiply, a.astype(int), 3), a.astype(int) * 3)
    with pytest.raises(ValueError, match="broadcast"):
        fast.arithmetic(np.add, a, a[:2])
    assert reference.arithmetic(np.add, a, 1, a) is a


@pytest.mark.slow
@each_dtype
def test_any_number_of_threads_gives_the_same_bits(dtype, threads):
    a, b = normal(0, 300, 1000, dtype=dtype), normal(1, 300, 1000, dtype=dtype)
    found = set()
    for count in (1, 2, 4):
        with threads(count):
            made = [fast.arithmetic(ufunc, a, x) for ufunc in UFUNCS for x in (b, b[0], b[:, :1], 0.7)]
            found.add(b"".join(y.tobytes() for y in (*made, fast.where(a > 0, a, b))))
    assert len(found) == 1


def test_common_operands_are_kernels_work(threads):
    a, b = normal(0, 4, 50, 96, dtype=np.float32), normal(1, 4, 50, 96, dtype=np.float32)
    common = [(a, b), (a, b[0, 0]), (a, b[..., :1]), (a, b[:, :1]), (a, 2.0), (2, a), (a.swapaxes(1, 2), b.swapaxes(1, 2))]
    log = fast.call_log
    with threads(2):
        for one, other in common:
            log.thread, log.log = threading.get_ident(), []
            try:
                fast.arithmetic(np.multiply, one, other)
                assert [call[0].function.__name__ for call in log.log] == ["multiply_lines"]
            finally:
                log.log = None
