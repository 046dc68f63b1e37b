"""Sums that run along the last axis."""

from badak.kernels.plain._arrays import Array, array_namespace, by_rows


@by_rows
def cumsum(x: Array) -> Array:
    """y[..., i] = x[..., 0] + ... + x[..., i], each sum from the one before;   dx[..., j] = sum_{i >= j} dy[..., i]."""
    return array_namespace(x).cumsum(x, axis=-1, dtype=x.dtype)
