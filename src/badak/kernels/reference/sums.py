"""Sums over rows."""

from typing import Any

from badak.kernels.half import value_dtype
from badak.kernels.reference._arrays import Array


def column_sum(x: Array, kind: Any = None) -> Array:
    """sum_n x[n] for x (N, C), in the dtype `kind`, x's unless told; bfloat16 is summed in float32."""
    return x.sum(axis=0, dtype=value_dtype(x.dtype)).astype(kind or x.dtype, copy=False)
