"""Softmax and its logarithm over the last axis."""

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import Array, by_rows, in_float32


@by_rows
@in_float32()
def softmax(x: Array) -> Array:
    """y = exp(x) / sum_c exp(x).    x (..., C) -> (..., C).

    Computed as exp(x - max), which changes nothing in exact arithmetic and cannot overflow. A row that is
    -inf everywhere has no softmax and gives NaN.
    """
    y = elementary.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    y /= y.sum(axis=-1, keepdims=True)
    return y


@by_rows
@in_float32()
def softmax_backward(dy: Array, y: Array) -> Array:
    """dx = y (dy - sum_c dy y), because dy_i/dx_j = y_i ([i = j] - y_j)."""
    return y * (dy - (dy * y).sum(axis=-1, keepdims=True))


@by_rows
@in_float32()
def log_softmax(x: Array) -> Array:
    """y = x - log sum_c exp(x), with the maximum taken out first.    x (..., C) -> (..., C)."""
    z = x - x.max(axis=-1, keepdims=True, initial=-np.inf)
    return z - elementary.log(elementary.exp(z).sum(axis=-1, keepdims=True))


@by_rows
@in_float32()
def log_softmax_backward(dy: Array, y: Array) -> Array:
    """dx = dy - exp(y) sum_c dy, because dy_i/dx_j = [i = j] - exp(y_j)."""
    return dy - elementary.exp(y) * dy.sum(axis=-1, keepdims=True)
