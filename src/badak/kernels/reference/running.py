"""Sums, and what else runs along an axis: carried on in float64 and rounded at each place, as PyTorch does."""

import numpy as np

from badak.kernels.reference._arrays import Array, by_rows, in_float32, running


@by_rows
@in_float32()
def cumsum(x: Array) -> Array:
    """y[..., i] = x[..., 0] + ... + x[..., i], each sum from the one before;   dx[..., j] = sum_{i >= j} dy[..., i]."""
    return running(np.cumsum, x, -1)
