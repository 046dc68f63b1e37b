"""The affine map of the last axis."""

import math

import numpy as np

from badak.kernels.fast._blocks import as_rows, column_sum
from badak.kernels.fast.matmul import product


def linear(x, w, b):
    """y = x w^T + b.    x (..., K), w (N, K), b (N,) or None -> (..., N). The bias is added tile by tile."""
    lead = x.shape[:-1]
    n = math.prod(lead)
    y = np.empty((n, w.shape[0]), x.dtype)
    product(y, x.reshape(n, x.shape[-1]), w.T, None if b is None else np.ascontiguousarray(b))
    return y.reshape(*lead, w.shape[0])


def linear_backward(dy, x, w, needs):
    """dx, dw, db.    dx = dy w        dw = sum over rows of dy^T x        db = sum over rows of dy

    dw is cut along its own rows and columns: no sum is shared between tasks.
    """
    dy = as_rows(dy)
    dx = product(np.empty((len(dy), w.shape[1]), dy.dtype), dy, w).reshape(x.shape) if needs[0] else None
    dw = None
    if needs[1]:
        rows = x.reshape(len(dy), x.shape[-1])
        dw = product(np.empty(w.shape, dy.dtype), dy.T, rows)
    return dx, dw, column_sum(dy) if needs[2] else None
