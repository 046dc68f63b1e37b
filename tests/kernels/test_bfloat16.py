"""bfloat16 in compiled code: what is read is exact, what is written is rounded once, as NumPy's cast rounds it."""

import ml_dtypes
import numpy as np
import pytest

from tests.kernels.twin import fast_kernels

fast = fast_kernels()
from badak.kernels.numba.codegen.compile import overload  # noqa: E402
from badak.kernels.numba.codegen.instructions import instruction  # noqa: E402
from badak.kernels.numba.codegen.registers import FLOAT32, I64, Vectors  # noqa: E402
from badak.kernels.numba.threadpool.parallel import parallel  # noqa: E402

HALF = np.dtype(ml_dtypes.bfloat16)
EVERY = np.arange(1 << 16, dtype=np.uint16).view(HALF)


def floats(seed, count):
    """Floats of any bits, half of them at or next to the middle between two bfloat16."""
    bits = np.random.default_rng(seed).integers(0, 1 << 32, count, np.uint32)
    bits[::2] = (bits[::2] & 0xFFFF0000) | np.array([0x7FFF, 0x8000, 0x8001], np.uint32)[np.arange(len(bits[::2])) % 3]
    return bits.view(np.float32)


def same_bits(found, expected):
    """Equal bits; of NaN only that they are NaN."""
    assert found.dtype == expected.dtype
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    assert found[~nan].tobytes() == expected[~nan].tobytes()


@parallel("Wf1 R1")
def widen(task, y, x):
    for i in range(x.size):
        y[i] = x[i]


@parallel("W1 Rf1")
def narrow(task, y, x):
    for i in range(x.size):
        y[i] = x[i]


@parallel("W1 R1 Rf1 f i")
def mixed(task, y, x, w, a, first):
    """What a kernel asks of an array besides its numbers, and every way to write one."""
    zero = x.dtype.type(0)
    y[:first] = zero
    y[first : first + 2] = 1
    if x.itemsize == 2:
        y[first + 2 :] = x[first + 2 :]
    for i in range(first + 3, x.size):
        y[i] += x.dtype.type(1) * x[i] * w[i] + a


@parallel("W1 R1 Wh1 Rh1")
def beside(task, y, x, other_y, other_x):
    """In a kernel of any dtype, arrays of bfloat16."""
    for i in range(x.size):
        y[i] = x[i] + other_x[i]
        other_y[i] = x[i] - other_x[i]


def test_a_load_widens_exactly():
    y = np.empty(EVERY.size, np.float32)
    widen(1, 0, y, EVERY)
    same_bits(y, EVERY.astype(np.float32))


def test_a_store_rounds_to_the_nearest_even():
    x = floats(0, 300_001)
    y = np.empty(x.size, HALF)
    narrow(1, 0, y, x)
    with np.errstate(invalid="ignore"):  # of NaN that signal
        same_bits(y, x.astype(HALF))


@pytest.mark.slow
def test_numbers_in_a_kernel_are_float32():
    x, w = (np.random.default_rng(seed).standard_normal(99).astype(np.float32) for seed in range(2))
    x, y = x.astype(HALF), np.full(99, 7, HALF)
    mixed(1, 0, y, x, w, 0.1, 3)
    expected = np.concatenate([[0, 0, 0, 1, 1], x[5:].astype(np.float32)]).astype(np.float32)
    expected[6:] += x[6:].astype(np.float32) * w[6:] + np.float32(0.1)
    np.testing.assert_allclose(y.astype(np.float32), expected, rtol=2**-8)
    same_bits(y[:6], expected[:6].astype(HALF))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, HALF])
def test_arrays_of_bfloat16_in_a_kernel_of_another_dtype(dtype):
    x, other = (np.random.default_rng(seed).standard_normal(99).astype(HALF) for seed in range(2))
    y, other_y = np.empty(99, dtype), np.empty(99, HALF)
    beside(1, 0, y, x.astype(dtype), other_y, other)
    same_bits(y, (x.astype(np.float32) + other.astype(np.float32)).astype(dtype))
    same_bits(other_y, (x.astype(np.float32) - other.astype(np.float32)).astype(HALF))


def test_another_dtype_of_16_bits_is_not_taken_for_it():
    y = np.empty(3, HALF)
    with pytest.raises(TypeError):
        narrow(1, 0, y, np.ones(3, np.float16))


@instruction()
def _scale(builder, y, x, size, number):
    """In registers: y = x times a number, y and x bfloat16 at addresses."""
    v = Vectors(builder, FLOAT32)
    whole = builder.udiv(size, I64(v.lanes))
    factor = v.number(number, half=True)

    def some(at, mask):
        v.store(builder.fmul(v.load(x, at, mask, half=True), factor), y, at, mask, half=True)

    v.repeat(whole, [], lambda i, carried: some(builder.mul(i, I64(2 * v.lanes)), None) or [])
    some(builder.mul(whole, I64(2 * v.lanes)), v.first(builder.sub(size, builder.mul(whole, I64(v.lanes)))))


def scale(y, x, number):
    y[:] = x * number


@overload(scale)
def _(y, x, number):
    return lambda y, x, number: _scale(y.ctypes.data, x.ctypes.data, x.size, number.ctypes.data)


@parallel("W1 R1 R1")
def scaled(task, y, x, number):
    scale(y, x, number)


def test_registers_read_and_write_bfloat16():
    x = np.concatenate([EVERY[:0x7F80], EVERY[0x8000:0xFF80], EVERY[:5]])
    number, y = np.array([1.2345], HALF), np.zeros(x.size + 1, HALF)
    scaled(1, 0, y[:-1], x, number)
    with np.errstate(over="ignore"):
        same_bits(y[:-1], (x.astype(np.float32) * number.astype(np.float32)).astype(HALF))
    assert y[-1] == 0
