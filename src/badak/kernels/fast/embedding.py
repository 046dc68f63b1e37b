"""Rows of a table."""

import numpy as np

from badak.errors import RangeError
from badak.kernels import plain
from badak.kernels.fast._blocks import as_rows, rows_per_block
from badak.kernels.fast._parallel import parallel


@parallel("W2 R2 Ri1 i")
def gather_rows(task, y, w, ids, rows):
    """y[n] = w[ids[n]] for `rows` values of n."""
    for n in range(task * rows, min((task + 1) * rows, len(ids))):
        source, target = w[ids[n]], y[n]
        for c in range(w.shape[1]):
            target[c] = source[c]


@parallel("W2 R2 Ri1 i")
def scatter_add_columns(task, dw, dy, ids, columns):
    """dw[ids[n]] += dy[n], n = 0, 1, ... in order, for `columns` columns: a task owns columns, so no sum is shared."""
    first, last = task * columns, min((task + 1) * columns, dw.shape[1])
    for n in range(len(ids)):
        source, target = dy[n], dw[ids[n]]
        for c in range(first, last):
            target[c] += source[c]


def embedding(w, ids):
    """y[..., :] = w[ids[...], :].    w (V, C), ids int (...) -> (..., C)."""
    if not w.flags.c_contiguous:
        return plain.embedding(w, ids)
    index = _checked(ids, len(w), "embedding")
    y = np.empty((*ids.shape, w.shape[1]), w.dtype)
    step = rows_per_block(w.shape[1])
    gather_rows(-(-ids.size // step), y.size * 0.3, y.reshape(ids.size, w.shape[1]), w, index, step)
    return y


def embedding_backward(dy, ids, rows, padding_idx=None, scale_grad_by_freq=False):
    """dw (rows, C): the sum of dy over the places where an id stands, in their order."""
    index = _checked(ids, rows, "embedding_backward")
    channels = dy.shape[-1]
    dw = np.zeros((rows, channels), dy.dtype)
    step = max(64, -(-channels // 8))
    scatter_add_columns(-(-channels // step), dy.size * 0.6, dw, as_rows(dy), index, step)
    if scale_grad_by_freq:
        dw /= np.maximum(np.bincount(index, minlength=rows), 1).astype(dy.dtype)[:, None]
    if padding_idx is not None:
        dw[padding_idx] = 0
    return dw


def _checked(ids, rows, where):
    """ids as contiguous int64 in 0 .. rows - 1: compiled code does not check. Negative ids count from the end."""
    index = np.ascontiguousarray(ids, np.int64).reshape(-1)
    if index.size:
        least, most = index.min(), index.max()
        if least < -rows or most >= rows:
            raise RangeError(
                f"{where}: expected ids in 0 .. {rows - 1}; got ids from {least} to {most}",
                f"a table of {most + 1} rows, or the ids of the right vocabulary",
            )
        if least < 0:
            index = np.where(index < 0, index + rows, index)
    return index
