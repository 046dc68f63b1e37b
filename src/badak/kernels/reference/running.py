"""Sums that run along the last axis."""

import numpy as np

from badak.kernels.reference._arrays import Array, by_rows, in_float32


@by_rows
@in_float32()
def cumsum(x: Array) -> Array:
    """y[..., i] = x[..., 0] + ... + x[..., i], each sum from the one before;   dx[..., j] = sum_{i >= j} dy[..., i]."""
    return np.cumsum(x, axis=-1, dtype=x.dtype)
