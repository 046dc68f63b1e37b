"""The backwards that write into memory place by place, as operations: the gradient of a gather is a scatter, and so on.

Each is the formula of its operation's docstring; `saved` and `dy` are as in that operation's `backward`.
"""

import math
from collections.abc import Callable

import numpy as np

from badak.ops import (
    cast,
    complex,
    concat,
    copy_slices,
    factors,
    fourier,
    index,
    linalg,
    observe,
    pad,
    rearrange,
    reduce,
    running,
    scatter,
    shape,
)
from badak.ops._complex import analytic
from badak.tensor.double_backward.array import NotRecordable, Recorded, run, zeros

FORMULAS: dict[type, Callable] = {}  # instead of Op.backward


def of(*ops: type):
    """Decorator: the backward of these operations."""

    def note(function: Callable) -> Callable:
        FORMULAS.update(dict.fromkeys(ops, function))
        return function

    return note


# ---------------------------------------------------------------- one part of an array


@of(index.Select)
def select(saved, dy):
    return run(index.IndexPut, zeros(saved.shape, dy), dy, key=saved.key)


@of(index.Index)
def index_by_arrays(saved, dy):
    return run(index.IndexPut, zeros(saved.shape, dy), dy, key=saved.key, accumulate=True)


@of(index.IndexPut)
def index_put(saved, dy):
    dx = dy
    if not saved.accumulate:
        dx = run(index.IndexPut, dy, np.zeros((), dy.dtype), key=saved.key)
    return dx, summed(dy[saved.key], saved.shape) if saved.needs[1] else None


@of(index.MaskedSelect)
def masked_select(saved, dy):
    full = np.broadcast_shapes(saved.shape, saved.mask.shape)
    mask = np.broadcast_to(saved.mask, full)
    return summed(run(index.IndexPut, zeros(full, dy), dy, key=mask), saved.shape), None


@of(index.MaskedScatter)
def masked_scatter(saved, dy):
    full = np.broadcast_to(saved.mask, dy.shape)
    dsrc = None
    if saved.needs[2]:
        picked = dy[full]
        flat = run(index.IndexPut, zeros(math.prod(saved.shape), dy), picked, key=(slice(0, picked.size),))
        dsrc = flat.reshape(saved.shape)
    return np.where(full, 0, dy), None, dsrc


@of(shape.Diagonal)
def diagonal(saved, dy):
    offset, (a, b) = saved.offset, saved.axes
    steps = ((shape.Diagonal, {"offset": offset, "a": a, "b": b}, 0),)
    return run(copy_slices.WriteView, zeros(saved.shape, dy), dy, steps=steps)


@of(copy_slices.WriteView)
def write_view(saved, dy):
    part = dy
    for op, attributes, slot in saved.steps:
        part = run(op, part, **attributes)
        part = part[slot] if type(part) is tuple else part
    return run(copy_slices.WriteView, dy, zeros(part.shape, dy), steps=saved.steps), part


@of(scatter.AsStrided)
def as_strided(saved, dy):
    x = saved.array("x")
    there, mine = scatter.places_of(x, *saved.places)
    size = max(there.max(initial=0), mine.max(initial=0)) + 1
    total = run(index.IndexAdd, zeros(size, dy), there.ravel(), dy.reshape(there.size), dim=0)
    return (total / np.maximum(np.bincount(mine.ravel(), minlength=size), 1))[mine]


# ---------------------------------------------------------------- entries by their positions


@of(index.Gather, index.TakeAlong)
def gather(saved, dy):
    if not saved.shape:
        return dy.sum().reshape(()), None
    return run(index.ScatterAdd, zeros(saved.shape, dy), saved.index, dy, dim=saved.dim), None


@of(index.Scatter)
def scattered(saved, dy):
    dx = run(index.ScatterFill, dy, saved.index, c=0, dim=saved.dim) if saved.needs[0] else None
    return dx, None, _picked(saved, dy) if saved.needs[2] else None


@of(index.ScatterFill)
def scatter_fill(saved, dy):
    return run(index.ScatterFill, dy, saved.index, c=0, dim=saved.dim), None


@of(index.ScatterAdd)
def scatter_add(saved, dy):
    return dy, None, _picked(saved, dy) if saved.needs[2] else None


def _picked(saved, dy):
    """dy at the positions, 0 for the entries of src that a smaller index leaves out."""
    part = run(index.Gather, dy, saved.index, dim=saved.dim)
    if part.shape == saved.shape:
        return part
    return run(pad.Pad, part, pads=tuple((0, n - m) for n, m in zip(saved.shape, part.shape)))


@of(index.IndexSelect)
def index_select(saved, dy):
    return run(index.IndexAdd, zeros(saved.shape, dy), saved.index, dy, dim=saved.dim), None


@of(index.IndexAdd)
def index_add(saved, dy):
    return dy, None, run(index.IndexSelect, dy, saved.index, dim=saved.dim) * saved.c if saved.needs[2] else None


@of(index.IndexCopy)
def index_copy(saved, dy):
    dx = run(index.IndexFill, dy, saved.index, c=0, dim=saved.dim) if saved.needs[0] else None
    return dx, None, run(index.IndexSelect, dy, saved.index, dim=saved.dim) if saved.needs[2] else None


@of(index.IndexFill)
def index_fill(saved, dy):
    return run(index.IndexFill, dy, saved.index, c=0, dim=saved.dim), None


@of(index.Take)
def take(saved, dy):
    flat = zeros(math.prod(saved.shape), dy)
    return run(index.IndexPut, flat, dy, key=saved.index, accumulate=True).reshape(saved.shape), None


# ---------------------------------------------------------------- pieces, copies, margins


@of(shape.Split)
def split(saved, *dys):
    axis, like = saved.axis, next(dy for dy in dys if dy is not None)
    sizes = [(*saved.shape[:axis], n, *saved.shape[axis + 1 :]) for n in saved.sizes]
    return run(concat.Cat, *(zeros(size, like) if dy is None else dy for size, dy in zip(sizes, dys)), axis=axis)


@of(shape.Unbind)
def unbind(saved, *dys):
    axis, like = saved.axis, next(dy for dy in dys if dy is not None)
    rest = (*saved.shape[:axis], *saved.shape[axis + 1 :])
    return run(concat.Stack, *(zeros(rest, like) if dy is None else dy for dy in dys), axis=axis)


@of(shape.Unfold)
def windows_of_axis(saved, dy):
    """dy (.., k, .., j) added at k step + j of the axis."""
    axis, ndim = saved.axis, len(saved.shape)
    places = np.arange(dy.shape[axis])[:, None] * saved.step + np.arange(dy.shape[-1])
    order = [*range(axis + 1), ndim, *range(axis + 1, ndim)]
    side_by_side = dy.transpose(order).reshape(*saved.shape[:axis], places.size, *saved.shape[axis + 1 :])
    return run(index.IndexAdd, zeros(saved.shape, dy), places.ravel(), side_by_side, dim=axis)


@of(pad.Pad)
def padded(saved, dy):
    return run(pad.Pad, dy, pads=tuple((-before, -after) for before, after in saved.pads))


@of(pad.PadBy)
def padded_by_itself(saved, dy):
    for (axis, rows), size in zip(reversed(saved.takes), reversed(saved.shapes)):
        dy = run(index.IndexAdd, zeros(size, dy), rows, dy, dim=axis)
    return dy


@of(rearrange.RepeatInterleave)
def repeat_interleave(saved, dy):
    times = saved.times
    rows = np.repeat(np.arange(saved.shape[saved.axis]), times)
    return run(index.IndexAdd, zeros(saved.shape, dy), rows, dy, dim=saved.axis)


@of(rearrange.Repeat)
def repeat(saved, dy):
    times, lead = saved.times, (1,) * (len(saved.times) - len(saved.shape))
    copies = dy.reshape([n for pair in zip(times, lead + saved.shape) for n in pair])
    return copies.sum(tuple(range(0, 2 * len(times), 2))).reshape(saved.shape)


@of(cast.Cast)
def cast_back(saved, dy):
    return (dy.real if dy.dtype.kind == "c" != saved.dtype.kind else dy).astype(saved.dtype)


def summed(dy: Recorded, size) -> Recorded:
    """dy summed down to what was stretched to its shape."""
    axes = tuple(a for a, n in enumerate((1,) * (dy.ndim - len(size)) + tuple(size)) if n == 1 != dy.shape[a])
    return (dy.sum(axis=axes, keepdims=True) if axes else dy).reshape(size)


# ---------------------------------------------------------------- complex numbers


@of(complex.ViewAsReal)
def view_as_real(saved, dy):
    return run(complex.Complex, dy[..., 0], dy[..., 1])


@of(complex.ViewAsComplex)
def view_as_complex(saved, dy):
    return run(complex.ViewAsReal, dy)


@of(fourier.InverseRealFourier)
def irfft(saved, dy):
    """s w F dy, w = 2 but for frequency 0 and n / 2."""
    axis, ndim = saved.axis % dy.ndim, dy.ndim
    dx = np.fft.rfft(dy, None, axis, fourier.OPPOSITE[saved.norm])
    twice = np.ones(dx.shape[axis], dy.dtype)
    twice[1 : (saved.n + 1) // 2] = 2
    return _fitted(dx * twice.reshape([-1 if a == axis else 1 for a in range(ndim)]), saved.shape[axis], axis)


@of(fourier.Fourier)
def fft(saved, dy):
    axis = saved.axis % dy.ndim
    transform = np.fft.fft if saved.inverse else np.fft.ifft
    return _fitted(transform(dy, None, axis, fourier.OPPOSITE[saved.norm]), saved.shape[axis], axis)


@of(fourier.RealFourier)
def rfft(saved, dy):
    """s Re(F^H dy), with zeros for the other entries of dy."""
    axis = saved.axis % dy.ndim
    dx = np.fft.ifft(_fitted(dy, saved.n, axis), None, axis, fourier.OPPOSITE[saved.norm]).real
    return _fitted(dx, saved.shape[axis], axis)


def _fitted(x, size: int, axis: int):
    """x cut off or filled with zeros to `size` along the axis."""
    return run(pad.Pad, x, pads=tuple((0, size - n if a == axis else 0) for a, n in enumerate(x.shape)))


# ---------------------------------------------------------------- sums, products, factorisations


@of(reduce.Prod)
@analytic
def prod(saved, dy):
    """dy y / x; where an x is 0, dy times the product of the others, one row of them for each x."""
    x, axes = saved.x, saved.axis or tuple(range(saved.x.ndim))
    dy = reduce.back(dy, saved.axis, saved.keepdims, x.ndim)
    if (x.values != 0).all():
        return dy * x.prod(axis=axes, keepdims=True) / x
    order = [a for a in range(x.ndim) if a not in axes] + list(axes)
    turned = x.transpose(order)
    lead, n = turned.shape[: x.ndim - len(axes)], math.prod(turned.shape[x.ndim - len(axes) :])
    rows = np.broadcast_to(turned.reshape(*lead, 1, n), (*lead, n, n))
    others = np.where(np.eye(n, dtype=bool), 1, rows).prod(axis=-1).reshape(turned.shape)
    return dy * others.transpose([int(a) for a in np.argsort(order)])


@of(reduce.CumSum)
def cumsum(saved, dy):
    return np.flip(np.cumsum(np.flip(dy, saved.axis), saved.axis), saved.axis)


@of(running.LogCumSumExp)
def logcumsumexp(saved, dy):
    """r_j = dy_j + r_(j+1) exp(y_j - y_(j+1)), dx_j = r_j exp(x_j - y_j), from the end on."""
    axis = saved.axis % dy.ndim
    x, y, d = (np.moveaxis(a, axis, 0) for a in (saved.x, saved.y, dy))
    rest, dxs = zeros(d.shape[1:], d), []
    for j in reversed(range(len(d))):
        rest = d[j] + (rest * running.ratio(y[j], y[j + 1]) if j + 1 < len(d) else rest)
        dxs.append(rest * running.ratio(x[j], y[j]))
    return run(concat.Stack, *reversed(dxs), axis=axis)


@of(running.CumMax, running.CumMin)
def extreme_so_far(saved, dy, dindex):
    return run(index.ScatterAdd, zeros(dy.shape, dy), saved.index, dy, dim=saved.axis % dy.ndim)


@of(linalg.Det)
@analytic
def det(saved, dy):
    """dA = dy det(A) A^-T, for A that has an inverse."""
    return (dy * run(linalg.Det, saved.a))[..., None, None] * np.linalg.inv(saved.a).swapaxes(-1, -2)


@of(linalg.SlogDet)
def slogdet(saved, dsign, dlog):
    if saved.a.dtype.kind == "c":
        raise NotRecordable("a complex sign")
    if dlog is None:
        return zeros(saved.a.shape, saved.a)
    return dlog[..., None, None] * np.linalg.inv(saved.a).swapaxes(-1, -2)


@of(linalg.Cholesky)
def cholesky(saved, dy):
    """sym(L^-T P(L^T dL) L^-1), P(M) = the lower triangle of M with half of its diagonal."""
    factor = saved.l
    n = factor.shape[-1]
    inner = (factor.swapaxes(-1, -2).conj() @ dy) * (np.tril(np.ones((n, n))) - np.eye(n) / 2)
    inverse = np.linalg.inv(factor)
    da = inverse.swapaxes(-1, -2).conj() @ inner @ inverse
    return (da + da.swapaxes(-1, -2).conj()) / 2


@of(factors.MatrixExp)
def matrix_exp(saved, dy):
    n = dy.shape[-1]
    return run(factors.MatrixExp, factors.doubled(saved.a, dy))[..., :n, n:]


@of(observe.Observe)
def hooked(saved, *dys):
    raise NotRecordable("the hooks of a module, which see arrays")
