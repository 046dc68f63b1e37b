"""Rows of a table."""

import numpy as np

from badak.errors import RangeError
from badak.kernels import plain
from badak.kernels.fast._blocks import as_rows, rows_per_block
from badak.kernels.fast._parallel import parallel


@parallel("W2 R2 Ri1 i Wi1")
def gather_rows(task, y, w, ids, rows, wrong):
    """y[n] = w[ids[n]] for `rows` values of n; a negative id counts from the end. One outside of w sets wrong[0]."""
    for n in range(task * rows, min((task + 1) * rows, len(ids))):
        row = ids[n] if ids[n] >= 0 else ids[n] + w.shape[0]
        if row < 0 or row >= w.shape[0]:
            wrong[0] = 1
            continue
        source, target = w[row], y[n]
        for c in range(w.shape[1]):
            target[c] = source[c]


@parallel("W2 R2 Ri1 i Wi1")
def scatter_add_columns(task, dw, dy, ids, columns, wrong):
    """dw[ids[n]] += dy[n], n = 0, 1, ... in order, for `columns` columns: a task owns columns, so no sum is shared."""
    first, last = task * columns, min((task + 1) * columns, dw.shape[1])
    for n in range(len(ids)):
        row = ids[n] if ids[n] >= 0 else ids[n] + dw.shape[0]
        if row < 0 or row >= dw.shape[0]:
            wrong[0] = 1
            continue
        source, target = dy[n], dw[row]
        for c in range(first, last):
            target[c] += source[c]


def embedding(w, ids):
    """y[..., :] = w[ids[...], :].    w (V, C), ids int (...) -> (..., C)."""
    if not w.flags.c_contiguous:
        return plain.embedding(w, ids)
    rows, channels = w.shape
    index, wrong = _flat(ids), np.zeros(1, np.int64)
    y = np.empty((index.size, channels), w.dtype)
    step = rows_per_block(channels)
    gather_rows(-(-index.size // step), y.size * 0.3, y, w, index, step, wrong)
    if wrong[0]:
        raise _out_of_range(index, rows, "embedding")
    return y.reshape(*ids.shape, channels)


def embedding_backward(dy, ids, rows, padding_idx=None, scale_grad_by_freq=False):
    """dw (rows, C): the sum of dy over the places where an id stands, in their order."""
    index, wrong = _flat(ids), np.zeros(1, np.int64)
    channels = dy.shape[-1]
    dw = np.zeros((rows, channels), dy.dtype)
    step = max(64, -(-channels // 8))
    scatter_add_columns(-(-channels // step), dy.size * 0.6, dw, as_rows(dy), index, step, wrong)
    if wrong[0]:
        raise _out_of_range(index, rows, "embedding_backward")
    if scale_grad_by_freq:
        dw /= np.maximum(np.bincount(index % max(rows, 1), minlength=rows), 1).astype(dy.dtype)[:, None]
    if padding_idx is not None:
        dw[padding_idx] = 0
    return dw


def _flat(ids):
    """ids as contiguous int64 (N,)."""
    return ids.ravel() if ids.dtype == np.int64 else ids.astype(np.int64).ravel()


def _out_of_range(index, rows, where):
    least, most = index.min(), index.max()
    return RangeError(
        f"{where}: expected ids in 0 .. {rows - 1}; got ids from {least} to {most}",
        f"a table of {most + 1} rows, or the ids of the right vocabulary",
    )
