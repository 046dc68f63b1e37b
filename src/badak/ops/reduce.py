"""Many numbers become one: sums, means, products, variances, extremes, norms.

`axis` is None (all of them) or a tuple of axes counted from 0; `keepdims` leaves them in the shape with size 1.
"""

import math

import numpy as np

from badak import kernels
from badak.kernels import elementary
from badak.kernels.reference._arrays import running
from badak.ops._broadcast import by_rows, quiet
from badak.ops._complex import analytic
from badak.ops.batching import stacked
from badak.ops.elementwise import signs
from badak.ops.op import Op


def back(dy, axis, keepdims, ndim):
    """dy with the reduced axes put back as axes of size 1, so that it broadcasts against the input."""
    if axis is None:
        return np.reshape(dy, (1,) * ndim)
    if not keepdims:
        for a in sorted(axis):
            dy = np.expand_dims(dy, a)
    return dy


def count(shape, axis):
    """How many numbers go into each result."""
    n = 1
    for a in range(len(shape)) if axis is None else axis:
        n *= shape[a]
    return n


class Sum(Op):
    """y = sum x;   dx = dy for every summand."""

    owns_grads = False

    saves_no_tensors = True
    keeps_finite = True

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False):
        save.shape, save.axis, save.keepdims = x.shape, axis, keepdims
        return np.add.reduce(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def backward(saved, dy):
        shape = saved.shape
        return np.broadcast_to(back(dy, saved.axis, saved.keepdims, len(shape)), shape)


class Mean(Op):
    """y = sum x / n;   dx = dy / n."""

    owns_grads = False

    saves_no_tensors = True
    keeps_finite = True

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False):
        save.shape, save.axis, save.keepdims = x.shape, axis, keepdims
        n = count(x.shape, axis)
        return np.true_divide(np.add.reduce(x, axis=axis, keepdims=keepdims), n)

    @staticmethod
    @quiet
    def backward(saved, dy):
        shape = saved.shape
        g = np.true_divide(back(dy, saved.axis, saved.keepdims, len(shape)), count(shape, saved.axis))
        return np.broadcast_to(g, shape)


class Prod(Op):
    """y = prod x;   dx = dy y / x, written as the product of the others where x = 0."""

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False):
        save.x, save.axis, save.keepdims = x, axis, keepdims
        return np.multiply.reduce(x, axis=axis, keepdims=keepdims)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        x, axis = saved.x, saved.axis
        dy = back(dy, axis, saved.keepdims, x.ndim)
        zero = x == 0
        zeros = np.add.reduce(zero, axis=axis, keepdims=True)
        safe = np.where(zero, x.dtype.type(1), x)
        others = np.multiply.reduce(safe, axis=axis, keepdims=True) / safe
        return dy * others * ((zeros == 0) | ((zeros == 1) & zero))

    @staticmethod
    @analytic
    def double_backward(saved, dy):
        """dy y / x; where an x is 0, dy times the product of the others, one row of them for each x."""
        x, axes = saved.x, saved.axis or tuple(range(saved.x.ndim))
        dy = back(dy, saved.axis, saved.keepdims, x.ndim)
        if (x.values != 0).all():
            return dy * x.prod(axis=axes, keepdims=True) / x
        order = [a for a in range(x.ndim) if a not in axes] + list(axes)
        turned = x.transpose(order)
        lead, n = turned.shape[: x.ndim - len(axes)], math.prod(turned.shape[x.ndim - len(axes) :])
        rows = np.broadcast_to(turned.reshape(*lead, 1, n), (*lead, n, n))
        others = np.where(np.eye(n, dtype=bool), 1, rows).prod(axis=-1).reshape(turned.shape)
        return dy * others.transpose([int(a) for a in np.argsort(order)])


_MEAN = {"mean": lambda saved: saved.x.mean(axis=saved.axis, keepdims=True)}


class Var(Op):
    """y = sum (x - mean)^2 / (n - correction);   dx = 2 dy (x - mean) / (n - correction)."""

    saved_functions = _MEAN

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, correction=1, keepdims=False):
        save.x, save.axis, save.keepdims = x, axis, keepdims
        save.n = n = max(count(x.shape, axis) - correction, 0)
        save.mean = mean = _mean(x, axis)
        return _squares(x - mean, axis, keepdims, n)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x = saved.x
        g = np.true_divide(back(dy, saved.axis, saved.keepdims, x.ndim) * 2, saved.n)
        return (x - saved.mean) * g


class Std(Op):
    """y = sqrt(sum (x - mean)^2 / (n - correction));   dx = dy (x - mean) / (y (n - correction)), 0 where y = 0."""

    saved_functions = _MEAN

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, correction=1, keepdims=False):
        save.x, save.axis, save.keepdims = x, axis, keepdims
        save.n = n = max(count(x.shape, axis) - correction, 0)
        save.mean = mean = _mean(x, axis)
        save.y = y = np.sqrt(_squares(x - mean, axis, keepdims, n))
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, y = saved.x, saved.y
        g = np.where(y == 0, dy.dtype.type(0), np.true_divide(dy, y * dy.dtype.type(saved.n)))
        return (x - saved.mean) * back(g, saved.axis, saved.keepdims, x.ndim)


def _mean(x, axis):
    n = count(x.shape, axis)
    return np.true_divide(np.add.reduce(x, axis=axis, keepdims=True), x.dtype.type(n)).astype(x.dtype, copy=False)


def _squares(d, axis, keepdims, n):
    return np.true_divide(np.add.reduce(np.square(d), axis=axis, keepdims=keepdims), d.dtype.type(n))


class Amax(Op):
    """y = max x;   dx = dy shared evenly by those that are equal to y; with `nan`, by every NaN where y is NaN."""

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False, nan=False):
        save.x, save.axis, save.keepdims, save.nan = x, axis, keepdims, nan
        save.y = y = np.maximum.reduce(x, axis=axis, keepdims=keepdims)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, axis, keepdims = saved.x, saved.axis, saved.keepdims
        y = back(saved.y, axis, keepdims, x.ndim)
        best = (x == y) | ((x != x) & (y != y)) if saved.nan else x == y
        ties = np.add.reduce(best, axis=axis, keepdims=True, dtype=x.dtype)
        return best * (back(dy, axis, keepdims, x.ndim) / ties)


class Amin(Op):
    """y = min x;   dx as for the largest."""

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False, nan=False):
        save.x, save.axis, save.keepdims, save.nan = x, axis, keepdims, nan
        save.y = y = np.minimum.reduce(x, axis=axis, keepdims=keepdims)
        return y

    backward = Amax.backward


class OneOf(Op):
    """y = x[.., index], one entry of each row for all that equal it;   dx = dy shared evenly by those, or by every NaN."""

    batching = staticmethod(stacked)

    @staticmethod
    @by_rows
    def forward(save, x, index):
        save.x, save.axis, save.keepdims, save.nan = x, -1, True, True
        save.y = y = np.take_along_axis(x, index, -1)
        return y

    @staticmethod
    def backward(saved, dy):
        return Amax.backward(saved, dy), None


class LogSumExp(Op):
    """y = ln sum exp(x), shifted by the maximum;   dx = dy exp(x - y)."""

    name = "logsumexp"

    @staticmethod
    @by_rows
    def forward(save, x, axis=None, keepdims=False):
        save.x, save.axis, save.keepdims = x, axis, keepdims
        real = x.real if x.dtype.kind == "c" else x
        top = np.maximum.reduce(real, axis=axis, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, real.dtype.type(0))
        y = elementary.log(np.add.reduce(elementary.exp(x - top), axis=axis, keepdims=True)) + top
        save.y = y = y if keepdims else y.reshape(np.add.reduce(x, axis=axis).shape)
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        x, axis, keepdims = saved.x, saved.axis, saved.keepdims
        y = np.where(saved.y == -np.inf, x.dtype.type(0), saved.y)  # a row of -inf has no gradient
        return elementary.exp(x - back(y, axis, keepdims, x.ndim)) * back(dy, axis, keepdims, x.ndim)


class Norm(Op):
    """y = (sum |x|^p)^(1/p), max |x| for p = inf, min |x| for -inf, the number of nonzeros for 0.

    dx = dy x |x|^(p-2) / y^(p-1), 0 where y = 0;   p = 2: dy x / y;   p = 1: dy sign(x);
    p = +-inf: dy sign(x), shared evenly by those with |x| = y.
    """

    @staticmethod
    @by_rows
    def forward(save, x, p=2, axis=None, keepdims=False):
        save.x, save.p, save.axis, save.keepdims = x, p, axis, keepdims
        save.y = y = _norm(x, p, axis, keepdims)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, p = saved.x, saved.p
        y = back(saved.y, saved.axis, saved.keepdims, x.ndim)
        dy = back(dy, saved.axis, saved.keepdims, x.ndim)
        if p == 0:
            return np.zeros_like(x)
        if p == 1:
            return dy * signs(x)
        if abs(p) == np.inf:
            best = np.abs(x) == y
            return signs(x) * best * (dy / np.add.reduce(best, axis=saved.axis, keepdims=True, dtype=y.dtype))
        if p == 2:
            dx = x * (dy / y)
        else:
            dx = np.where(x == 0, x.dtype.type(0), x * np.abs(x) ** (p - 2)) * (dy / y ** (p - 1))
        return np.where(y == 0, x.dtype.type(0), dx)


def _norm(x, p, axis, keepdims):
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


def _sum_from_here(x, axis):
    """Entry i is the sum of entries i, i + 1, ... to the end."""
    return np.flip(running(np.cumsum, np.flip(x, axis), axis), axis)


class CumSum(Op):
    """y_i = sum_{j <= i} x_j;   dx_j = sum_{i >= j} dy_i."""

    owns_grads = False

    saves_no_tensors = True
    name = "cumsum"

    @staticmethod
    @by_rows
    def forward(save, x, axis):
        save.axis = axis
        if x.ndim and axis in (-1, x.ndim - 1):
            return kernels.of(x).cumsum(x)
        return running(np.cumsum, x, axis)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _sum_from_here(dy, saved.axis)

    @staticmethod
    def double_backward(saved, dy):
        return _sum_from_here(dy, saved.axis)


class CumProd(Op):
    """y_i = prod_{j <= i} x_j;   dx_j = sum_{i >= j} dy_i y_i / x_j.

    Where x_j is the first zero of its row the division is replaced by products that leave x_j out; after it dx = 0.
    """

    name = "cumprod"

    @staticmethod
    @by_rows
    def forward(save, x, axis):
        save.x, save.axis = x, axis
        save.y = y = running(np.cumprod, x, axis)
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        x, axis = saved.x, saved.axis
        one, zero = x.dtype.type(1), x.dtype.type(0)
        zeros = np.cumsum(x == 0, axis=axis)  # how many zeros up to here
        first = (x == 0) & (zeros == 1)
        without = running(np.cumprod, np.where(first, one, x), axis)
        before = _sum_from_here(dy * saved.y, axis) / np.where(x == 0, one, x)
        at = _sum_from_here(np.where(zeros > 0, dy * without, zero), axis)
        return np.where(zeros == 0, before, np.where(first, at, zero))
