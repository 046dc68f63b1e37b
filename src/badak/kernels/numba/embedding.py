"""Rows of a table; entries along one axis, picked by their positions, and added there in the order of `reference`."""

import math

import numpy as np

from badak.core.errors import IndexOutOfRangeError, tr
from badak.kernels import reference
from badak.kernels.half import BFLOAT16, value_dtype
from badak.kernels.numba._blocks import BLOCK, as_rows, rows_per_block
from badak.kernels.numba.casts import cast
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact

_PICKED, _ADDED = 1.0, 1.5  # nanoseconds of one core per element
_FEW = 4096  # elements up to which NumPy is as fast


@parallel("W2 R2 Ri1 i Ei1")
def gather_rows(task, y, w, ids, rows, wrong):
    """y[n] = w[ids[n]] for `rows` values of n. An id outside of w sets wrong[0]."""
    for n in range(task * rows, min((task + 1) * rows, len(ids))):
        row = ids[n]
        if row < 0 or row >= w.shape[0]:
            wrong[0] = 1
            continue
        source, target = w[row], y[n]
        for c in range(w.shape[1]):
            target[c] = source[c]


@parallel("Wf2 R2 Ri1 i i Ei1")
def scatter_add_columns(task, dw, dy, ids, columns, padding, wrong):
    """dw = 0, then dw[ids[n]] += dy[n], n = 0, 1, ... in order, for `columns` columns: a task owns columns, so no sum is shared.

    The row `padding` gets nothing.
    """
    first, last = task * columns, min((task + 1) * columns, dw.shape[1])
    for row in range(dw.shape[0]):
        target = dw[row, first:last]
        for c in range(last - first):  # from 0 on: an index that may be negative keeps a loop from vectors
            target[c] = 0
    for n in range(len(ids)):
        row = ids[n]
        if row < 0 or row >= dw.shape[0]:
            wrong[0] = 1
            continue
        if row == padding:
            continue
        source, target = dy[n, first:last], dw[row, first:last]
        for c in range(last - first):
            target[c] += source[c]


def embedding(w, ids):
    """y[..., :] = w[ids[...], :].    w (V, C), ids int (...) -> (..., C)."""
    if not w.flags.c_contiguous:
        return reference.embedding(w, ids)
    rows, channels = w.shape
    index, wrong = flat_ids(ids), np.zeros(1, np.int64)
    y = np.empty((index.size, channels), w.dtype)
    step = rows_per_block(channels)
    gather_rows(-(-index.size // step), y.size * 0.3, y, w, index, step, wrong)
    if wrong[0]:
        raise out_of_range(index, rows, "embedding")
    return y.reshape(*ids.shape, channels)


def embedding_backward(dy, ids, rows, padding_idx=None, scale_grad_by_freq=False):
    """dw (rows, C): the sum of dy over the places where an id stands, in their order."""
    index, wrong = flat_ids(ids), np.zeros(1, np.int64)
    channels = dy.shape[-1]
    dw = np.empty((rows, channels), value_dtype(dy.dtype))
    step = max(64, -(-channels // 8))
    padding = rows if padding_idx is None else padding_idx % max(rows, 1)
    work = dy.size * 0.6 + dw.size * 0.2
    scatter_add_columns(-(-channels // step), work, dw, as_rows(dy), index, step, padding, wrong)
    if wrong[0]:
        raise out_of_range(index, rows, "embedding_backward")
    if scale_grad_by_freq:
        dw = dw / np.maximum(np.bincount(index, minlength=rows), 1).astype(dw.dtype)[:, None]
    return cast(dw, dy.dtype)


@parallel("X4 V4 Ri1 Ei1")
def replace_rows(task, x, source, ids, wrong):
    """x[ids[n]] = source[n] for n = task; the last axis of both is contiguous. An id outside of x sets wrong[0]."""
    row = ids[task]
    if row < 0 or row >= x.shape[0]:
        wrong[0] = 1
        return
    for i in range(x.shape[1]):
        for j in range(x.shape[2]):
            target, given = unit_stride(x[row, i, j]), unit_stride(source[task, i, j])
            for c in range(target.size):
                target[c] = given[c]


def index_copy(x, dim, index, source):
    """x's slice index[k] along `dim` = source's slice k, in place. A step of generation puts keys into a cache this way."""
    unit = x.strides[-1] == x.itemsize and source.strides[-1] == x.itemsize
    if not unit or not 1 < x.ndim <= 4 or dim == x.ndim - 1 or source.dtype != x.dtype or _repeats(index):
        reference.index_copy(x, dim, index, source)
        return
    ids, wrong = flat_ids(index), np.zeros(1, np.int64)
    ahead = (slice(None), *(None,) * (4 - x.ndim))
    into, given = (np.moveaxis(each, dim, 0)[ahead] for each in (x, source))
    replace_rows(ids.size, source.size * 0.3, into, given, ids, wrong)
    if wrong[0]:
        raise out_of_range(ids, x.shape[dim], "index_copy")


def _repeats(index):
    """Whether an id may stand twice: then the last one holds, which needs an order."""
    return index.size > 1 and np.unique(index).size < index.size


def flat_ids(ids):
    """ids as contiguous int64 (N,)."""
    return ids.ravel() if ids.dtype == np.int64 else ids.astype(np.int64).ravel()


def out_of_range(index, rows, where):
    least, most = index.min(), index.max()
    cause = tr("{}: expected ids in 0 .. {}; got ids from {} to {}", where, rows - 1, least, most)
    return IndexOutOfRangeError(
        cause, "ids from 0" if least < 0 else tr("a table of {} rows, or the ids of the right vocabulary", most + 1), code=12
    )


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
