"""Sums that run along the last axis: one addition an element, where NumPy's general loop takes four times as long."""

import numpy as np

from badak.kernels import reference
from badak.kernels.numba._blocks import as_rows, rows_per_block
from badak.kernels.numba.threadpool.parallel import parallel_exact


@parallel_exact("W2 R2 i")
def cumsum_rows(task, y, x, rows):
    """y[n, i] = y[n, i - 1] + x[n, i] for `rows` values of n."""
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        source, target = x[n], y[n]
        total = np.float64(-0.0)  # -0 + x is x, of either zero too
        for i in range(len(source)):
            total = total + source[i]
            target[i] = total


def cumsum(x):
    """y[..., i] = x[..., 0] + ... + x[..., i], each sum from the one before."""
    if x.ndim == 0 or x.size == 0:
        return reference.cumsum(x)
    y = np.empty(x.shape, x.dtype)
    wide = as_rows(x) if x.ndim > 1 else np.ascontiguousarray(x)[None]
    step = rows_per_block(wide.shape[1])
    cumsum_rows(-(-len(wide) // step), x.size * 0.7, y.reshape(wide.shape), wide, step)
    return y
