"""Rows of a table; entries along one axis, picked by their positions, and added there."""

import numpy as np

from badak.kernels.reference._arrays import Array, at_places, by_rows, grid, in_float32
from badak.kernels.reference._arrays import rows as as_rows


@by_rows
def embedding(w: Array, ids: Array) -> Array:
    """y[..., :] = w[ids[...], :].    w (V, C), ids int (...) -> (..., C)."""
    return w[ids]


@in_float32()
def embedding_backward(dy: Array, ids: Array, rows: int, padding_idx: int | None = None, scale_grad_by_freq: bool = False) -> Array:
    """dw (rows, C).    dy (..., C), ids int (...).

        dw[v] = sum of dy over the places where ids == v

    With `scale_grad_by_freq`, divided by the number of those places. The row `padding_idx` gets none.
    """
    flat = ids.reshape(ids.size)
    dw = np.zeros((rows, dy.shape[-1]), dy.dtype)
    at_places(np.add, dw, (flat,), as_rows(dy))
    if scale_grad_by_freq:
        dw /= np.maximum(np.bincount(flat, minlength=rows), 1).astype(dy.dtype)[:, None]
    if padding_idx is not None:
        dw[padding_idx] = 0
    return dw


def index_copy(x: Array, dim: int, index: Array, source: Array) -> None:
    """x's slice index[k] along `dim` = source's slice k, in place."""
    x[(slice(None),) * dim + (index,)] = source


def gather(x: Array, index: Array, dim: int) -> Array:
    """y[i0, .., ik, .., in] = x[i0, .., index[i0, .., in], .., in], at position k = dim."""
    return x[grid(index, dim)]


def scatter_add(y: Array, index: Array, src: Array, dim: int) -> None:
    """y[i0, .., index[i0, .., in], .., in] += src[i0, .., in], in place and in order."""
    at_places(np.add, y, grid(index, dim), src)


def index_add(y: Array, index: Array, src: Array, dim: int) -> None:
    """y's slice index[k] along `dim` += src's slice k, in place and in order."""
    at_places(np.add, y, (*(slice(None),) * dim, index), src)
