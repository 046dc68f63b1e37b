"""8-bit Weights: the numbers of a row are whole multiples of its scale."""

import numpy as np

from badak.kernels.reference._arrays import Array, quiet, rows

TINY = 2.0**-120  # a row whose numbers are all smaller counts as zeros: 127 / 2^-120 is a float32


@quiet
def quantize_rows(x: Array) -> tuple[Array, Array]:
    """q (..., K) int8 and scale (...), so that x is about q scale; x (..., K) float32.

        scale = max |x| / 127        q = x (127 / max |x|), rounded to the nearest, ties to even: -127 .. 127

    A row with an infinity or NaN has scale NaN and q 0.
    """
    largest = np.abs(x).max(axis=-1, keepdims=True, initial=0)
    fine = np.isfinite(largest)
    some = fine & (largest >= TINY)
    inverse = np.where(some, np.float32(127) / largest, np.float32(0))
    scale = np.where(some, largest / np.float32(127), np.where(fine, np.float32(0), np.float32(np.nan)))
    q = np.rint(np.where(fine, x, np.float32(0)) * inverse).astype(np.int8)
    return q, scale[..., 0]


@quiet
def linear_int8(x: Array, w: Array, scale: Array, b: Array | None) -> Array:
    """y = q w^T (x_scale scale) + b for q, x_scale of the rows of x; the sums of integers are exact.

    x (..., K) float32, w (N, K) int8, scale (N,) and b (N,) float32 or None -> (..., N).
    """
    q, x_scale = quantize_rows(rows(x))
    sums = q.astype(np.float64) @ w.T.astype(np.float64)  # integers below 2^53, however they are added up
    y = sums.astype(np.float32) * (x_scale[:, None] * scale)
    if b is not None:
        y += b
    return y.reshape(*x.shape[:-1], w.shape[0])
