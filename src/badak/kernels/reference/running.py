"""Sums, and what else runs along an axis: carried on in float64 and rounded at each place, as PyTorch does."""

from collections.abc import Callable

import numpy as np

from badak.kernels.reference._arrays import Array, by_rows, in_float32, quiet


@quiet
def running(function: Callable[..., Array], x: Array, axis: int) -> Array:
    """np.cumsum or the like of x along axis, in x's dtype."""
    if type(x) is not np.ndarray or x.dtype.kind not in "fc":
        return function(x, axis=axis, dtype=x.dtype)
    return function(x, axis=axis, dtype=np.result_type(x.dtype, np.float64)).astype(x.dtype, copy=False)


@by_rows
@in_float32()
def cumsum(x: Array) -> Array:
    """y[..., i] = x[..., 0] + ... + x[..., i], each sum from the one before;   dx[..., j] = sum_{i >= j} dy[..., i]."""
    return running(np.cumsum, x, -1)
