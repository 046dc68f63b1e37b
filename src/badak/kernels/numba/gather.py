"""Entries along one axis, picked by their positions, and added there: the sums are those of `reference`, in its order."""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import BLOCK
from badak.kernels.numba.threadpool.parallel import parallel_exact

_PICKED, _ADDED = 1.0, 1.5  # nanoseconds of one core per element
_FEW = 4096  # elements up to which NumPy is as fast


@parallel_exact("W3 R3 Ri3 i Ei1")
def gather_rows_along(task, y, x, index, rows, wrong):
    """y[o, k, i] = x[o, index[o, k, i], i] for `rows` values of o. A place outside of x sets wrong[0]."""
    inner, size = y.shape[2], x.shape[1]
    for o in range(task * rows, min((task + 1) * rows, y.shape[0])):
        made, given, places = y[o].reshape(-1), x[o].reshape(-1), index[o].reshape(-1)
        i = 0
        for n in range(made.size):
            place = places[n]
            inside = 0 <= place and place < size
            if not inside:
                wrong[0] = 1
            made[n] = given[np.uint64((place if inside else 0) * inner + i)]
            i = i + 1 if i + 1 < inner else 0


@parallel_exact("W3 R3 Ri3 i i")
def scatter_add_along(task, y, src, index, rows, columns):
    """y[o, index[o, k, i], i] += src[o, k, i] for `rows` values of o and `columns` of i: a task owns them, so no sum is shared."""
    group, piece = divmod(task, -(-y.shape[2] // columns))
    for o in range(group * rows, min((group + 1) * rows, y.shape[0])):
        for k in range(src.shape[1]):
            for i in range(piece * columns, min((piece + 1) * columns, y.shape[2])):
                y[o, index[o, k, i], i] += src[o, k, i]


@parallel_exact("W3 R3 Ri1 i i")
def index_add_along(task, y, src, index, rows, columns):
    """As `scatter_add_along`, with one place for each slice: y[o, index[k], i] += src[o, k, i]."""
    group, piece = divmod(task, -(-y.shape[2] // columns))
    first, last = piece * columns, min((piece + 1) * columns, y.shape[2])
    for o in range(group * rows, min((group + 1) * rows, y.shape[0])):
        for k in range(src.shape[1]):
            target, given = y[o, index[k], first:last], src[o, k, first:last]
            for c in range(last - first):
                target[c] += given[c]


def gather(x, index, dim):
    """y[i0, .., ik, .., in] = x[i0, .., index[i0, .., in], .., in], at position k = dim."""
    if index.size <= _FEW or not _lines_up(x, index, dim):
        return reference.gather(x, index, dim)
    y, wrong = np.empty(index.shape, x.dtype), np.zeros(1, np.int64)
    made = _as_three(y, dim)
    rows = max(1, BLOCK // (made.shape[1] * made.shape[2]))
    tasks = -(-made.shape[0] // rows)
    gather_rows_along(tasks, y.size * _PICKED, made, _as_three(x, dim), _as_three(index, dim), rows, wrong)
    return reference.gather(x, index, dim) if wrong[0] else y


def scatter_add(y, index, src, dim):
    """y[i0, .., index[i0, .., in], .., in] += src[i0, .., in], in place and in order."""
    if (
        src.size <= _FEW
        or src.dtype != y.dtype
        or src.shape != index.shape
        or not _sums(y, index, dim)
        or not _lines_up(y, index, dim)
    ):
        reference.scatter_add(y, index, src, dim)
        return
    _add(scatter_add_along, y, _as_three(src, dim), _as_three(index, dim), dim)


def index_add(y, index, src, dim):
    """y's slice index[k] along `dim` += src's slice k, in place and in order."""
    index = np.atleast_1d(index)
    whole = src.shape == y.shape[:dim] + index.shape + y.shape[dim + 1 :]
    if src.size <= _FEW or y.ndim == 1 or src.dtype != y.dtype or not whole or not _sums(y, index, dim):
        reference.index_add(y, index, src, dim)
        return
    _add(index_add_along, y, _as_three(src, dim), np.ascontiguousarray(index, np.int64), dim)


def _add(kernel, y, src, index, dim):
    into = _as_three(y, dim)
    columns = max(64, -(-into.shape[2] // 8))
    rows = max(1, BLOCK // max(1, src.shape[1] * src.shape[2]))
    tasks = -(-into.shape[0] // rows) * -(-into.shape[2] // columns)
    kernel(tasks, src.size * _ADDED, into, src, index, rows, columns)


def _as_three(x, dim):
    """x as (before the axis, the axis, behind it)."""
    x = np.ascontiguousarray(x, np.int64 if x.dtype.kind in "iu" else None)
    return x.reshape(math.prod(x.shape[:dim]), x.shape[dim], -1)


def _lines_up(x, index, dim):
    """Whether index differs from x along `dim` alone; in a vector NumPy is as fast."""
    return x.size and x.ndim > 1 and x.shape[:dim] == index.shape[:dim] and x.shape[dim + 1 :] == index.shape[dim + 1 :]


def _sums(y, index, dim):
    """Whether the kernels add into y at these places."""
    plain = y.dtype != BFLOAT16 and y.flags.c_contiguous and y.size and index.size
    return plain and 0 <= index.min() and index.max() < y.shape[dim]
