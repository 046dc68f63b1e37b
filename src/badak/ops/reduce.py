"""Many numbers become one: sums, means, products, variances, extremes, norms.

`axis` is None (all of them) or a tuple of axes counted from 0; `keepdims` leaves them in the shape with size 1.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from badak import kernels
from badak.core.public_api.public import declare
from badak.kernels import elementary
from badak.kernels.reference._arrays import running
from badak.ops._broadcast import by_rows, quiet
from badak.ops.batching import stacked
from badak.ops.elementwise import signs
from badak.ops.op import Op
from badak.ops.operation import operation


def back(dy: np.ndarray, axis: Any, keepdims: bool, ndim: int) -> np.ndarray:
    """dy with the reduced axes put back as axes of size 1, so that it broadcasts against the input."""
    if axis is None:
        return np.reshape(dy, (1,) * ndim)
    if not keepdims:
        for a in sorted(axis):
            dy = np.expand_dims(dy, a)
    return dy


def count(shape: tuple, axis: tuple[int, ...] | None) -> int:
    """How many numbers go into each result."""
    n = 1
    for a in range(len(shape)) if axis is None else axis:
        n *= shape[a]
    return n


def _put_back(dy: np.ndarray, axis: Any, keepdims: bool, x_shape: tuple) -> np.ndarray:
    return back(dy, axis, keepdims, len(x_shape))


class Reduction(Op):
    """An operation that makes one number of many."""

    names: tuple[str, ...] = ()  # in public, PyTorch's first
    takes = "real"
    example: tuple[str, ...] = ()


REDUCTIONS: list[type[Reduction]] = []


def reduction(
    name: str,
    formula: str,
    function: Callable,
    derivative: Callable,
    /,
    public: str = "",
    takes: str = "real",
    example: tuple[str, ...] = (),
    **facts: Any,
) -> type[Reduction]:
    """The operation y = function(x, axis, keepdims), whose derivative asks for `g`, dy with the reduced axes put back.

    public         its public names, functions and methods (`tensor/reductions.py`)
    takes          "real": numbers that have an order, none of them missing; "summands": integers become int64, and a dtype may be
                   asked for; "floats": integers are refused, unless a dtype is asked for
    example        a call of it and what that gives, for its docstring
    facts          as of `operation`
    """
    names = tuple(public.split())
    op = operation(
        name, formula, function, derivative, lies=by_rows, shared=_put_back, base=Reduction, depth=2, names=names, takes=takes,
        example=example, **facts,
    )  # fmt: skip
    declare("tensor.reductions", both=public)
    REDUCTIONS.append(op)
    return op


Sum = reduction(
    "Sum", "y = sum x;   dx = dy for every summand.",
    lambda x, axis=None, keepdims=False: np.add.reduce(x, axis=axis, keepdims=keepdims),
    lambda dy, g, x_shape: np.broadcast_to(g, x_shape),
    public="sum", takes="summands", example=("badak.ones(2, 3).sum(dim=1).tolist()", "[3.0, 3.0]"),
    owns_grads=False, keeps_finite=True,
)  # fmt: skip


Mean = reduction(
    "Mean", "y = sum x / n;   dx = dy / n.",
    lambda x, axis=None, keepdims=False: np.true_divide(np.add.reduce(x, axis=axis, keepdims=keepdims), count(x.shape, axis)),
    lambda dy, g, x_shape, axis: np.broadcast_to(np.true_divide(g, count(x_shape, axis)), x_shape),
    public="mean", takes="floats", example=("badak.tensor([1.0, 3.0]).mean().item()", "2.0"),
    slope=quiet, owns_grads=False, keeps_finite=True,
)  # fmt: skip


def _times_others(dy: np.ndarray, g: np.ndarray, x: np.ndarray, axis: tuple[int, ...] | None) -> np.ndarray:
    zero = x == 0
    zeros = np.add.reduce(zero, axis=axis, keepdims=True)
    safe = np.where(zero, x.dtype.type(1), x)
    others = np.multiply.reduce(safe, axis=axis, keepdims=True) / safe
    return g * others * ((zeros == 0) | ((zeros == 1) & zero))


def _times_others_twice(dy: Any, g: Any, x: Any, axis: tuple[int, ...] | None) -> Any:
    """dy y / x; where an x is 0, dy times the product of the others, one row of them for each x."""
    axes = axis or tuple(range(x.ndim))
    if (x.values != 0).all():
        return g * x.prod(axis=axes, keepdims=True) / x
    order = [a for a in range(x.ndim) if a not in axes] + list(axes)
    turned = x.transpose(order)
    lead, n = turned.shape[: x.ndim - len(axes)], math.prod(turned.shape[x.ndim - len(axes) :])
    rows = np.broadcast_to(turned.reshape(*lead, 1, n), (*lead, n, n))
    others = np.where(np.eye(n, dtype=bool), 1, rows).prod(axis=-1).reshape(turned.shape)
    return g * others.transpose([int(a) for a in np.argsort(order)])


Prod = reduction(
    "Prod", "y = prod x;   dx = dy y / x, written as the product of the others where x = 0.",
    lambda x, axis=None, keepdims=False: np.multiply.reduce(x, axis=axis, keepdims=keepdims),
    _times_others, twice=(_times_others_twice,), public="prod", takes="summands", analytic=True,
)  # fmt: skip


_MEAN = {"mean": lambda saved: saved.x.mean(axis=saved.axis, keepdims=True)}


class Var(Op):
    """y = sum (x - mean)^2 / (n - correction);   dx = 2 dy (x - mean) / (n - correction)."""

    saved_functions = _MEAN

    @staticmethod
    @by_rows
    def forward(
        save: Any, x: np.ndarray, axis: tuple[int, ...] | None = None, correction: int = 1, keepdims: bool = False
    ) -> np.ndarray:
        save.x, save.axis, save.keepdims = x, axis, keepdims
        save.n = n = max(count(x.shape, axis) - correction, 0)
        save.mean, y = _moments(x, axis, keepdims, n)
        return y

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> Any:
        x = saved.x
        g = np.true_divide(back(dy, saved.axis, saved.keepdims, x.ndim) * 2, saved.n)
        return (x - saved.mean) * g


class Std(Var):
    """y = sqrt(sum (x - mean)^2 / (n - correction));   dx = dy (x - mean) / (y (n - correction)), 0 where y = 0."""

    @staticmethod
    @by_rows
    def forward(
        save: Any, x: np.ndarray, axis: tuple[int, ...] | None = None, correction: int = 1, keepdims: bool = False
    ) -> np.ndarray:
        save.y = y = np.sqrt(Var.forward(save, x, axis, correction, keepdims))
        return y

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> Any:
        x, y = saved.x, saved.y
        g = np.where(y == 0, dy.dtype.type(0), np.true_divide(dy, y * dy.dtype.type(saved.n)))
        return (x - saved.mean) * back(g, saved.axis, saved.keepdims, x.ndim)


def _mean(x: np.ndarray, axis: tuple[int, ...] | None) -> np.ndarray:
    n = count(x.shape, axis)
    return np.true_divide(np.add.reduce(x, axis=axis, keepdims=True), x.dtype.type(n)).astype(x.dtype, copy=False)


def _moments(x: np.ndarray, axis: tuple[int, ...] | None, keepdims: bool, n: int) -> tuple:
    """Mean and variance. Rounding takes the mean no further than the numbers go: of equal ones it is that one, the variance 0."""
    mean = _mean(x, axis)
    y = _squares(x - mean, axis, keepdims, n)
    rounding = mean.reshape(np.shape(y)) * (count(x.shape, axis) * np.finfo(x.dtype).eps)
    if (y <= np.square(rounding)).any():
        ends = (end.reduce(x, axis=axis, keepdims=True) for end in (np.minimum, np.maximum))
        mean = np.clip(mean, *ends)
        y = _squares(x - mean, axis, keepdims, n)
    return mean, y


def _squares(d: np.ndarray, axis: Any, keepdims: Any, n: Any) -> np.ndarray:
    return np.true_divide(np.add.reduce(np.square(d), axis=axis, keepdims=keepdims), d.dtype.type(n))


def _shared_evenly(dy: Any, g: Any, x: Any, y: Any, axis: int | tuple[int, ...] | None, keepdims: bool, nan: bool) -> Any:
    y = back(y, axis, keepdims, x.ndim)
    best = (x == y) | ((x != x) & (y != y)) if nan else x == y
    return best * (g / np.add.reduce(best, axis=axis, keepdims=True, dtype=x.dtype))


Amax = reduction(
    "Amax", "y = max x;   dx = dy shared evenly by those that are equal to y.",  # with `nan`, by every NaN where y is NaN
    lambda x, axis=None, keepdims=False, nan=False: np.maximum.reduce(x, axis=axis, keepdims=keepdims),
    _shared_evenly, public="amax", slope=quiet,
)  # fmt: skip


Amin = reduction(
    "Amin", "y = min x;   dx = dy shared evenly by those that are equal to y.",
    lambda x, axis=None, keepdims=False, nan=False: np.minimum.reduce(x, axis=axis, keepdims=keepdims),
    _shared_evenly, public="amin", slope=quiet,
)  # fmt: skip


OneOf = operation(
    "OneOf", "y = x[.., index], one entry of each row for all that equal it;   dx = dy shared evenly by those, or by every NaN.",
    lambda x, index: np.take_along_axis(x, index, -1),
    lambda dy, x, y: _shared_evenly(dy, dy, x, y, -1, True, True),
    None,
    lies=by_rows, slope=quiet, batching=stacked,
)  # fmt: skip


def _logsumexp(x: np.ndarray, axis: tuple | None = None, keepdims: bool = False) -> np.ndarray:
    real = x.real if x.dtype.kind == "c" else x
    top = np.maximum.reduce(real, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, real.dtype.type(0))
    y = elementary.log(np.add.reduce(elementary.exp(x - top), axis=axis, keepdims=True)) + top
    return y if keepdims else y.reshape(np.add.reduce(x, axis=axis).shape)


def _logsumexp_slope(dy: Any, g: Any, x: Any, y: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    y = np.where(y == -np.inf, x.dtype.type(0), y)  # a row of -inf has no gradient
    return elementary.exp(x - back(y, axis, keepdims, x.ndim)) * g


LogSumExp = reduction(
    "LogSumExp", "y = ln sum exp(x), shifted by the maximum;   dx = dy exp(x - y).", _logsumexp, _logsumexp_slope,
    analytic=True, name="logsumexp",
)  # fmt: skip


def _norm_slope(dy: Any, g: Any, x: Any, y: Any, p: float, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    y = back(y, axis, keepdims, x.ndim)
    if p == 0:
        return np.zeros_like(x)
    if p == 1:
        return g * signs(x)
    if abs(p) == np.inf:
        best = np.abs(x) == y
        return signs(x) * best * (g / np.add.reduce(best, axis=axis, keepdims=True, dtype=y.dtype))
    if p == 2:
        dx = x * (g / y)
    else:
        dx = np.where(x == 0, x.dtype.type(0), x * np.abs(x) ** (p - 2)) * (g / y ** (p - 1))
    return np.where(y == 0, x.dtype.type(0), dx)


def _norm(x: np.ndarray, p: float = 2, axis: Any = None, keepdims: Any = False) -> np.ndarray:
    if p == 2:
        return np.sqrt(np.add.reduce(np.square(np.abs(x) if x.dtype.kind == "c" else x), axis=axis, keepdims=keepdims))
    size = np.abs(x)
    if p == 1:
        return np.add.reduce(size, axis=axis, keepdims=keepdims)
    if p == np.inf:
        return np.maximum.reduce(size, axis=axis, keepdims=keepdims)
    if p == -np.inf:
        return np.minimum.reduce(size, axis=axis, keepdims=keepdims)
    if p == 0:
        return np.add.reduce(size != 0, axis=axis, keepdims=keepdims, dtype=size.dtype)
    return np.add.reduce(size**p, axis=axis, keepdims=keepdims) ** (1 / p)


Norm = reduction(
    "Norm",
    """y = (sum |x|^p)^(1/p), max |x| for p = inf, min |x| for -inf, the number of nonzeros for 0.

    dx = dy x |x|^(p-2) / y^(p-1), 0 where y = 0;   p = 2: dy x / y;   p = 1: dy sign(x);
    p = +-inf: dy sign(x), shared evenly by those with |x| = y.
    """,
    _norm, _norm_slope, slope=quiet,
)  # fmt: skip


def _sum_from_here(x: Any, axis: int) -> Any:
    """Entry i is the sum of entries i, i + 1, ... to the end."""
    return np.flip(running(np.cumsum, np.flip(x, axis), axis), axis)


def _cumsum(x: np.ndarray, axis: int) -> np.ndarray:
    if x.ndim and axis in (-1, x.ndim - 1):
        return kernels.of(x).cumsum(x)
    return running(np.cumsum, x, axis)


CumSum = operation(
    "CumSum", "y_i = sum_{j <= i} x_j;   dx_j = sum_{i >= j} dy_i.", _cumsum, _sum_from_here,
    lies=by_rows, slope=quiet, owns_grads=False, name="cumsum",
)  # fmt: skip


def _cumprod_slope(dy: Any, x: Any, y: Any, axis: int) -> Any:
    one, zero = x.dtype.type(1), x.dtype.type(0)
    if type(x) is not np.ndarray and np.any(x == 0):  # it is differentiated again, and has zeros: without any division
        size, row = x.shape[axis], np.moveaxis(x, axis, -1)[..., None, :]
        without = running(np.cumprod, np.where(np.eye(size, dtype=bool), one, row), -1)
        later = np.where(np.tri(size, dtype=bool).T, np.moveaxis(dy, axis, -1)[..., None, :] * without, zero)
        return np.moveaxis(np.add.reduce(later, axis=-1), -1, axis)
    zeros = np.cumsum(x == 0, axis=axis)  # how many zeros up to here
    first = (x == 0) & (zeros == 1)
    without = running(np.cumprod, np.where(first, one, x), axis)
    before = _sum_from_here(dy * y, axis) / np.where(x == 0, one, x)
    at = _sum_from_here(np.where(zeros > 0, dy * without, zero), axis)
    return np.where(zeros == 0, before, np.where(first, at, zero))


CumProd = operation(
    "CumProd",
    """y_i = prod_{j <= i} x_j;   dx_j = sum_{i >= j} dy_i y_i / x_j.

    Where x_j is the first zero of its row the division is replaced by products that leave x_j out; after it dx = 0.
    """,
    lambda x, axis: running(np.cumprod, x, axis), _cumprod_slope, lies=by_rows, analytic=True, name="cumprod",
)  # fmt: skip
