"""Powers: of two arrays, or of an array and a Python number `c`."""

import numpy as np

from badak import kernels
from badak.kernels import elementary
from badak.ops._broadcast import by_rows, each, elementwise, quiet, unbroadcast
from badak.ops._complex import conj
from badak.ops.batching import broadcasting
from badak.ops.op import Op


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


class PowBy(Op):
    """y = x^c;   dx = dy c x^(c-1), 0 where c = 0."""

    pointwise = True
    capturable = True

    @staticmethod
    @elementwise
    def forward(save, x, c):
        save.x, save.c = x, c
        return power(x, c)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, c = saved.x, saved.c
        if c == 0:
            return np.zeros_like(x)
        if c == 2:
            return each(np.multiply, dy, conj(each(np.add, x, x)))
        return each(np.multiply, dy, conj(each(np.multiply, power(x, c - 1), c)))


class PowOf(Op):
    """y = c^x;   dx = dy y log(c), 0 where c = 0 and x >= 0."""

    pointwise = True
    batching = staticmethod(broadcasting)

    @staticmethod
    @by_rows
    def forward(save, x, c):
        save.x, save.c = x, c
        save.y = y = _of_arrays(x.dtype.type(c), x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        dtype = saved.x.dtype.type
        dx = dy * conj(saved.y * elementary.log(dtype(saved.c)))
        return np.where(saved.x >= 0, dtype(0), dx) if saved.c == 0 else dx


class Pow(Op):
    """y = a^b;   da = dy b a^(b-1), 0 where b = 0;   db = dy y log(a), 0 where a = 0 and b >= 0."""

    pointwise = True

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        save.y = y = _of_arrays(a, b)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        na, nb = saved.needs
        zero = dy.dtype.type(0)
        da = db = None
        if na:
            da = unbroadcast(np.where(b == 0, zero, dy * conj(b * np.power(a, b - 1))), a.shape)
        if nb:
            still = (a == 0) & (b >= 0)
            db = unbroadcast(np.where(still, zero, dy * conj(saved.y * elementary.log(a))), b.shape)
        return da, db
