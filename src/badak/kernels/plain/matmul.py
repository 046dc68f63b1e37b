"""The product of matrices."""

import numpy as np

from badak.kernels.plain._arrays import Array, by_rows


@by_rows
def matmul(a: Array, b: Array) -> Array:
    """a (..., M, K), b (..., K, N) -> (..., M, N); leading axes broadcast.

        y[..., m, n] = sum_k a[..., m, k] b[..., k, n]

    Its gradients are products again: da = dy b^T, db = a^T dy.
    """
    return np.matmul(a, b)
