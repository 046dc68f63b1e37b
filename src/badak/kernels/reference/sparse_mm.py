"""Products with a matrix of which only some entries are kept."""

import numpy as np

from badak.kernels.reference._arrays import Array, at_places, by_rows


@by_rows
def sparse_mm(values: Array, dense: Array, row: Array, col: Array, rows: int) -> Array:
    """y[row[k]] += values[k] dense[col[k]], k = 0, 1, ...    values (K,), dense (N, C) -> (rows, C)."""
    y = np.zeros((rows, dense.shape[1]), dense.dtype)
    at_places(np.add, y, (row,), values[:, None] * dense[col])
    return y


@by_rows
def sparse_mm_backward(dy: Array, dense: Array, row: Array, col: Array) -> Array:
    """dvalues[k] = sum over c of dy[row[k], c] dense[col[k], c].    dy (M, C), dense (N, C) -> (K,)."""
    return (dy[row] * dense[col]).sum(axis=1, dtype=dy.dtype)
