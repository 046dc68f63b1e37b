"""Sums, products, quotients and powers, and the way from a to b. Arrays broadcast; `c` is a number that takes their dtype."""

from typing import Any

import numpy as np

from badak import kernels
from badak.kernels import elementary
from badak.ops._broadcast import by_rows, each, quiet, unbroadcast
from badak.ops._complex import conj
from badak.ops.batching import broadcasting
from badak.ops.operation import operation
from badak.ops.pointwise import pointwise

# what kernels do with numbers that broadcast
_NUMBERS: dict[str, Any] = {
    "lies": quiet, "pointwise": True, "capturable": True, "supports_bf16": True, "batching": broadcasting,
}  # fmt: skip


Add = operation(
    "Add", "y = a + b;   da = dy, db = dy.",
    lambda a, b: each(np.add, a, b),
    lambda dy: dy,
    lambda dy: dy,
    stretched=True, owns_grads=False, ufunc=np.add, **_NUMBERS,
)  # fmt: skip


Shift = operation("Shift", "y = x + c;   dx = dy.", lambda x, c: each(np.add, x, c), lambda dy: dy, owns_grads=False, **_NUMBERS)


Sub = operation(
    "Sub", "y = a - b;   da = dy, db = -dy.",
    lambda a, b: each(np.subtract, a, b),
    lambda dy: dy,
    lambda dy, b_shape: -unbroadcast(dy, b_shape),
    stretched=True, owns_grads=False, ufunc=np.subtract, **_NUMBERS,
)  # fmt: skip


SubFrom = operation("SubFrom", "y = c - x;   dx = -dy.", lambda x, c: each(np.subtract, c, x), lambda dy: -dy, **_NUMBERS)


Mul = operation(
    "Mul", "y = a b;   da = dy b*, db = dy a*   (* is the conjugate, which matters for complex numbers only).",
    lambda a, b: each(np.multiply, a, b),
    lambda dy, b, a_shape: _times(dy, conj(b), a_shape),
    lambda dy, a, b_shape: _times(dy, conj(a), b_shape),
    slope=quiet, again=("a", "b"), **_NUMBERS,
)  # fmt: skip


def _times(dy: np.ndarray, other: np.ndarray, shape: tuple) -> np.ndarray:
    """dy other, summed down to `shape`: where there is something to sum, 16 bits are rounded once, after that."""
    if dy.dtype.itemsize != 2 or dy.shape == shape:
        return unbroadcast(each(np.multiply, dy, other), shape)
    made = each(np.multiply, dy.astype(np.float32), other.astype(np.float32))
    return unbroadcast(made, shape).astype(dy.dtype)


Scale = operation(
    "Scale", "y = c x;   dx = dy c, the conjugate of a complex c.",
    lambda x, c: each(np.multiply, x, c),
    lambda dy, c: each(np.multiply, dy, c.conjugate()),
    slope=quiet, **_NUMBERS, saves_no_tensors=False,
)  # fmt: skip


Div = operation(
    "Div", "y = a / b;   da = dy / b*, db = -(dy / b*) (a / b)*.",
    lambda a, b: each(np.true_divide, a, b),
    lambda dy, g: g,
    lambda dy, g, a, b: each(np.multiply, -g, conj(each(np.true_divide, a, b))),
    shared=lambda dy, b: each(np.true_divide, dy, conj(b)), stretched=True, slope=quiet, **_NUMBERS | {"supports_bf16": False},
)  # fmt: skip


DivBy = operation(
    "DivBy", "y = x / c;   dx = dy / c, the conjugate of a complex c.",
    lambda x, c: each(np.true_divide, x, c),
    lambda dy, c: each(np.true_divide, dy, c.conjugate()),
    slope=quiet, **_NUMBERS, saves_no_tensors=False,
)  # fmt: skip


DivInto = operation(
    "DivInto", "y = c / x;   dx = -dy c / x^2.",
    lambda x, c: each(np.true_divide, c, x),
    lambda dy, x, c: each(np.multiply, -dy, conj(each(np.true_divide, each(np.true_divide, c, x), x))),
    slope=quiet, **_NUMBERS | {"supports_bf16": False},
)  # fmt: skip


FloorDiv = pointwise(
    "FloorDiv", "y = floor(a / b);   no gradient (0 almost everywhere).", np.floor_divide,
    lambda dy, a_shape: np.zeros(a_shape, dy.dtype),
    lambda dy, b_shape: np.zeros(b_shape, dy.dtype),
    steps=True, saves_no_tensors=False,
)  # fmt: skip


TruncDiv = pointwise(
    "TruncDiv", "y = trunc(a / b), towards zero;   no gradient (0 almost everywhere).",
    lambda a, b: (a - np.fmod(a, b)) // b if a.dtype.kind in "iub" else np.trunc(a / b),
    lambda dy, a_shape: np.zeros(a_shape, dy.dtype),
    lambda dy, b_shape: np.zeros(b_shape, dy.dtype),
    saves_no_tensors=False,
)  # fmt: skip


Remainder = pointwise(
    "Remainder", "y = a - b floor(a / b), with the sign of b;   da = dy, db = -dy floor(a / b).", np.remainder,
    lambda dy: dy,
    lambda dy, a, b: -dy * np.floor_divide(a, b),
    owns_grads=False,
)  # fmt: skip


Fmod = pointwise(
    "Fmod", "y = a - b trunc(a / b), with the sign of a;   da = dy, db = -dy trunc(a / b).", np.fmod,
    lambda dy: dy,
    lambda dy, a, b: -dy * np.trunc(a / b),
    owns_grads=False,
)  # fmt: skip


Neg = pointwise("Neg", "y = -x;   dx = -dy.", np.negative, lambda dy: -dy, supports_bf16=True, keeps_finite=True)


Addcmul = pointwise(
    "Addcmul", "y = x + c a b;   dx = dy, da = c dy b, db = c dy a.",
    lambda x, a, b, c: x + a * b * c if c != 1 else x + a * b,
    lambda dy: dy,
    lambda dy, b, c: dy * b * c,
    lambda dy, a, c: dy * a * c,
    analytic=True, owns_grads=False,
)  # fmt: skip
Addcdiv = pointwise(
    "Addcdiv", "y = x + c a / b;   dx = dy, da = c dy / b, db = -c dy a / b^2.",
    lambda x, a, b, c: x + a / b * c if c != 1 else x + a / b,
    lambda dy: dy,
    lambda dy, g: g,
    lambda dy, g, a, b: -g * (a / b),
    shared=lambda dy, b, c: dy / b * c, analytic=True, owns_grads=False, light_for=(),
)  # fmt: skip
LerpBy = pointwise(
    "LerpBy",
    """y = a + c (b - a);   da = (1 - c) dy, db = c dy.

    Computed from the nearer end, as b - (1 - c) (b - a) for c >= 1/2, so that c = 1 gives exactly b.
    """,
    lambda a, b, c: a + c * (b - a) if abs(c) < 0.5 else b - (b - a) * (1 - c),
    lambda dy, c: dy * (1 - c),
    lambda dy, c: dy * c,
    analytic=True,
)  # fmt: skip
Lerp = pointwise(
    "Lerp", "y = a + w (b - a);   da = (1 - w) dy, db = w dy, dw = (b - a) dy.",
    lambda a, b, w: np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)),
    lambda dy, w: dy * (1 - w),
    lambda dy, w: dy * w,
    lambda dy, a, b: dy * (b - a),
    analytic=True,
)  # fmt: skip


def power(x: Any, c: float) -> Any:
    """x^c for a number c, by products where c is small and whole (many times faster than the general power)."""
    if c == 3:
        return each(np.multiply, each(np.multiply, x, x), x)
    if c == 2 and x.dtype.kind == "f":
        return each(np.multiply, x, x)
    if c == -2:
        return each(np.true_divide, 1, each(np.multiply, x, x))
    return each(np.true_divide, 1, np.sqrt(x)) if c == -0.5 else x**c


def _of_arrays(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^b; integers to negative powers are 1 / a^-b without its fraction, 0 also for a = 0, as in PyTorch."""
    if b.dtype.kind != "i" or not b.size or b.min() >= 0:
        return kernels.of(b).power(a, b)
    below = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0)).astype(b.dtype)
    return np.where(b < 0, below, kernels.of(b).power(a, np.maximum(b, 0)))


def _power_slope(dy: Any, x: Any, c: float) -> Any:
    if c == 0:
        return np.zeros_like(x)
    if c == 2:
        return each(np.multiply, dy, conj(each(np.add, x, x)))
    return each(np.multiply, dy, conj(each(np.multiply, power(x, c - 1), c)))


PowBy = pointwise("PowBy", "y = x^c;   dx = dy c x^(c-1), 0 where c = 0.", power, _power_slope, capturable=True)


def _slope_of_exponent(dy: Any, x: Any, c: float, y: Any) -> Any:
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
