"""Products with a matrix of which only some entries are kept."""

import numpy as np

from badak.core.errors import IndexOutOfRangeError, tr
from badak.kernels import reference
from badak.kernels.numba._blocks import as_rows
from badak.kernels.numba.simd.rows import products_in
from badak.kernels.numba.threadpool.parallel import parallel

PARTS = 64  # of the rows, where they are in order
COLUMNS = 32  # that a task has where they are not: two cache lines of float32
PER_TASK = 4096  # entries of a task of sparse_mm_backward


@parallel("W2 R1 R2 Ri1 Ri1 Ri1 i Ei1")
def add_entries(task, y, values, dense, row, col, starts, columns, wrong):
    """y[row[k]] += values[k] dense[col[k]] for the entries of one part of `starts` and `columns` columns, in their order."""
    parts = len(starts) - 1
    part, block = task % parts, task // parts
    first, last = block * columns, min((block + 1) * columns, y.shape[1])
    for k in range(starts[part], starts[part + 1]):
        to, source = row[k], col[k]
        if to < 0 or to >= y.shape[0] or source < 0 or source >= dense.shape[0]:
            wrong[0] = 1
            continue
        value, given, target = values[k], dense[source, first:last], y[to, first:last]
        for c in range(last - first):
            target[c] += value * given[c]


@parallel("W1 R2 R2 Ri1 Ri1 i Ei1")
def dot_rows(task, y, a, b, row, col, entries, wrong):
    """y[k] = sum over c of a[row[k], c] b[col[k], c], for `entries` values of k."""
    for k in range(task * entries, min((task + 1) * entries, len(row))):
        m, n = row[k], col[k]
        if m < 0 or m >= a.shape[0] or n < 0 or n >= b.shape[0]:
            wrong[0] = 1
            continue
        y[k] = products_in(a[m], b[n])


def sparse_mm(values, dense, row, col, rows):
    """y[row[k]] += values[k] dense[col[k]], k = 0, 1, ...: tasks own rows where these are in order, columns elsewhere."""
    if values.dtype != dense.dtype:
        return reference.sparse_mm(values, dense, row, col, rows)
    channels = dense.shape[1]
    y = np.zeros((rows, channels), dense.dtype)
    row, col, wrong = np.ascontiguousarray(row), np.ascontiguousarray(col), np.zeros(1, np.int64)
    if bool((row[1:] >= row[:-1]).all()):
        step, columns = max(1, -(-rows // PARTS)), max(channels, 1)
        starts = np.searchsorted(row, np.arange(0, rows + step, step)).astype(np.int64)
        starts[0], starts[-1] = 0, row.size
    else:
        starts, columns = np.array([0, row.size]), COLUMNS
    tasks = (len(starts) - 1) * -(-channels // columns)
    add_entries(
        tasks, row.size * (4 + channels * 0.4), y, np.ascontiguousarray(values), as_rows(dense), row, col, starts, columns, wrong
    )
    _check(wrong, row, col, rows, dense.shape[0])
    return y


def sparse_mm_backward(dy, dense, row, col):
    """dvalues[k] = sum over c of dy[row[k], c] dense[col[k], c]."""
    if dy.dtype != dense.dtype or dense.shape[1] == 0:
        return reference.sparse_mm_backward(dy, dense, row, col)
    row, col, wrong = np.ascontiguousarray(row), np.ascontiguousarray(col), np.zeros(1, np.int64)
    made = np.empty(row.size, dy.dtype)
    tasks = -(-row.size // PER_TASK)
    dot_rows(tasks, row.size * (4 + dy.shape[1] * 0.4), made, as_rows(dy), as_rows(dense), row, col, PER_TASK, wrong)
    _check(wrong, row, col, dy.shape[0], dense.shape[0])
    return made


def _check(wrong, row, col, rows, columns):
    if wrong[0]:
        cause = tr("sparse_mm: expected indices in 0 .. {} and 0 .. {}; got rows {} .. {}, columns {} .. {}", rows - 1, columns - 1,
                   row.min(), row.max(), col.min(), col.max())  # fmt: skip
        raise IndexOutOfRangeError(cause, "indices that have not been changed in place since the sparse tensor was made")
