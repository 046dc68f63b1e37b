"""Sums, products and quotients. Two arrays broadcast; `c` is a Python number that takes the array's dtype."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.ops._broadcast import each, elementwise, quiet, unbroadcast
from badak.ops._complex import conj
from badak.ops.batching import broadcasting
from badak.ops.op import Op


class _Numbers:
    """Flags of what kernels do with numbers that broadcast."""

    pointwise = capturable = supports_bf16 = True
    batching: Callable[..., Any] | None = staticmethod(broadcasting)


class Add(_Numbers, Op):
    """y = a + b;   da = dy, db = dy."""

    owns_grads = False
    saves_no_tensors = True
    ufunc: Any = np.add

    @staticmethod
    @quiet
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        return each(np.add, a, b)

    @staticmethod
    def backward(saved, dy):
        (na, nb), (sa, sb) = saved.needs, saved.shapes
        return unbroadcast(dy, sa) if na else None, unbroadcast(dy, sb) if nb else None


class Shift(_Numbers, Op):
    """y = x + c;   dx = dy."""

    owns_grads = False
    saves_no_tensors = True

    @staticmethod
    @quiet
    def forward(save, x, c):
        return each(np.add, x, c)

    @staticmethod
    def backward(saved, dy):
        return dy


class Sub(_Numbers, Op):
    """y = a - b;   da = dy, db = -dy."""

    owns_grads = False
    saves_no_tensors = True
    ufunc = np.subtract

    @staticmethod
    @quiet
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        return each(np.subtract, a, b)

    @staticmethod
    def backward(saved, dy):
        (na, nb), (sa, sb) = saved.needs, saved.shapes
        return unbroadcast(dy, sa) if na else None, -unbroadcast(dy, sb) if nb else None


class SubFrom(_Numbers, Op):
    """y = c - x;   dx = -dy."""

    saves_no_tensors = True

    @staticmethod
    @quiet
    def forward(save, x, c):
        return each(np.subtract, c, x)

    @staticmethod
    def backward(saved, dy):
        return -dy


class Mul(_Numbers, Op):
    """y = a b;   da = dy b*, db = dy a*   (* is the conjugate, which matters for complex numbers only)."""

    again = "a", "b"

    @staticmethod
    @quiet
    def forward(save, a, b):
        na, nb = save.needs
        save.shapes = a.shape, b.shape
        if nb:
            save.a = a
        if na:
            save.b = b
        return each(np.multiply, a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        (na, nb), (sa, sb) = saved.needs, saved.shapes
        da = _times(dy, conj(saved.b), sa) if na else None
        return da, _times(dy, conj(saved.a), sb) if nb else None


def _times(dy, other, shape):
    """dy other, summed down to `shape`: where there is something to sum, 16 bits are rounded once, after that."""
    if dy.dtype.itemsize != 2 or dy.shape == shape:
        return unbroadcast(each(np.multiply, dy, other), shape)
    made = each(np.multiply, dy.astype(np.float32), other.astype(np.float32))
    return unbroadcast(made, shape).astype(dy.dtype)


class Scale(_Numbers, Op):
    """y = c x;   dx = dy c, the conjugate of a complex c."""

    @staticmethod
    @quiet
    def forward(save, x, c):
        save.c = c
        return each(np.multiply, x, c)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.multiply, dy, saved.c.conjugate())


class Div(_Numbers, Op):
    """y = a / b;   da = dy / b*, db = -(dy / b*) (a / b)*."""

    supports_bf16 = False

    @staticmethod
    @quiet
    def forward(save, a, b):
        save.shapes, save.b = (a.shape, b.shape), b
        if save.needs[1]:
            save.a = a
        return each(np.true_divide, a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        (na, nb), (sa, sb), b = saved.needs, saved.shapes, saved.b
        g = each(np.true_divide, dy, conj(b))
        da = unbroadcast(g, sa) if na else None
        return da, unbroadcast(each(np.multiply, -g, conj(each(np.true_divide, saved.a, b))), sb) if nb else None


class DivBy(_Numbers, Op):
    """y = x / c;   dx = dy / c, the conjugate of a complex c."""

    @staticmethod
    @quiet
    def forward(save, x, c):
        save.c = c
        return each(np.true_divide, x, c)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.true_divide, dy, saved.c.conjugate())


class DivInto(_Numbers, Op):
    """y = c / x;   dx = -dy c / x^2."""

    supports_bf16 = False

    @staticmethod
    @quiet
    def forward(save, x, c):
        save.x, save.c = x, c
        return each(np.true_divide, c, x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x = saved.x
        return each(np.multiply, -dy, conj(each(np.true_divide, each(np.true_divide, saved.c, x), x)))


class FloorDiv(Op):
    """y = floor(a / b);   no gradient (0 almost everywhere)."""

    pointwise = steps = True
    owns_grads = False

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        return np.floor_divide(a, b)

    @staticmethod
    def backward(saved, dy):
        return tuple(np.zeros(s, dy.dtype) if n else None for n, s in zip(saved.needs, saved.shapes))


class TruncDiv(Op):
    """y = trunc(a / b), towards zero;   no gradient (0 almost everywhere)."""

    pointwise = True
    owns_grads = False

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        if a.dtype.kind in "iub":
            return (a - np.fmod(a, b)) // b
        return np.trunc(a / b)

    backward = FloorDiv.backward


class Remainder(Op):
    """y = a - b floor(a / b), with the sign of b;   da = dy, db = -dy floor(a / b)."""

    pointwise = True
    owns_grads = False
    light_for = (0,)

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.remainder(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        na, nb = saved.needs
        da = unbroadcast(dy, a.shape) if na else None
        return da, unbroadcast(-dy * np.floor_divide(a, b), b.shape) if nb else None


class Fmod(Op):
    """y = a - b trunc(a / b), with the sign of a;   da = dy, db = -dy trunc(a / b)."""

    pointwise = True
    owns_grads = False
    light_for = (0,)

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.fmod(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        na, nb = saved.needs
        da = unbroadcast(dy, a.shape) if na else None
        return da, unbroadcast(-dy * np.trunc(a / b), b.shape) if nb else None


class Neg(Op):
    """y = -x;   dx = -dy."""

    pointwise = True
    supports_bf16 = True
    saves_no_tensors = True
    keeps_finite = True

    @staticmethod
    @elementwise
    def forward(save, x):
        return -x

    @staticmethod
    def backward(saved, dy):
        return -dy
