"""Powers: of two arrays, or of an array and a Python number `c`."""

import numpy as np

from badak import kernels
from badak.kernels import elementary
from badak.ops._broadcast import by_rows, each, quiet
from badak.ops._complex import conj
from badak.ops.batching import broadcasting
from badak.ops.operation import operation
from badak.ops.pointwise import pointwise


def power(x, c):
    """x^c for a number c, by products where c is small and whole (many times faster than the general power)."""
    if c == 3:
        return each(np.multiply, each(np.multiply, x, x), x)
    if c == 2 and x.dtype.kind == "f":
        return each(np.multiply, x, x)
    if c == -2:
        return each(np.true_divide, 1, each(np.multiply, x, x))
    if c == -0.5:
        return each(np.true_divide, 1, np.sqrt(x))
    return x**c


def _of_arrays(a, b):
    """a^b; integers to negative powers are 1 / a^-b without its fraction, 0 also for a = 0, as in PyTorch."""
    if b.dtype.kind != "i" or not b.size or b.min() >= 0:
        return kernels.of(b).power(a, b)
    below = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0)).astype(b.dtype)
    return np.where(b < 0, below, kernels.of(b).power(a, np.maximum(b, 0)))


def _slope(dy, x, c):
    if c == 0:
        return np.zeros_like(x)
    if c == 2:
        return each(np.multiply, dy, conj(each(np.add, x, x)))
    return each(np.multiply, dy, conj(each(np.multiply, power(x, c - 1), c)))


PowBy = pointwise("PowBy", "y = x^c;   dx = dy c x^(c-1), 0 where c = 0.", power, _slope, capturable=True)


def _slope_of_exponent(dy, x, c, y):
    dx = dy * conj(y * elementary.log(x.dtype.type(c)))
    return np.where(x >= 0, x.dtype.type(0), dx) if c == 0 else dx


PowOf = operation(
    "PowOf", "y = c^x;   dx = dy y log(c), 0 where c = 0 and x >= 0.",
    lambda x, c: _of_arrays(x.dtype.type(c), x), _slope_of_exponent,
    lies=by_rows, slope=quiet, pointwise=True, batching=broadcasting,
)  # fmt: skip


Pow = pointwise(
    "Pow", "y = a^b;   da = dy b a^(b-1), 0 where b = 0;   db = dy y log(a), 0 where a = 0 and b >= 0.", _of_arrays,
    lambda dy, a, b: np.where(b == 0, dy.dtype.type(0), dy * conj(b * np.power(a, b - 1))),
    lambda dy, a, b, y: np.where((a == 0) & (b >= 0), dy.dtype.type(0), dy * conj(y * elementary.log(a))),
)  # fmt: skip
