"""Sums over rows."""

from badak.kernels.plain._arrays import Array


def column_sum(x: Array) -> Array:
    """sum_n x[n] for x (N, C)."""
    return x.sum(axis=0)
