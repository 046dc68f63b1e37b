"""The matrix product."""

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.reference._arrays import Array, by_rows


@by_rows
def matmul(a: Array, b: Array, kind: np.dtype | None = None) -> Array:
    """a (..., M, K), b (..., K, N) -> (..., M, N); leading axes broadcast.

        y[..., m, n] = sum_k a[..., m, k] b[..., k, n]

    Its gradients are products again: da = dy b^T, db = a^T dy.
    kind: the result's dtype, a's where there is none. Where it or an input is bfloat16, the inputs are rounded to bfloat16,
    products are summed in float32, and the sums are rounded once.
    """
    if not in_half(kind, a, b):
        return np.matmul(a, b)
    return np.matmul(rounded(a), rounded(b)).astype(kind or a.dtype, copy=False)


def in_half(kind: np.dtype | None, *arrays: Array) -> bool:
    """Whether a product of these, whose result has the dtype `kind`, is one of numbers of bfloat16."""
    return kind == BFLOAT16 or any(x.dtype == BFLOAT16 for x in arrays)


def rounded(x: Array) -> Array:
    """The numbers of bfloat16 that are nearest to x, as float32."""
    return (x if x.dtype == BFLOAT16 else x.astype(BFLOAT16)).astype(np.float32)
