"""The affine map of the last axis."""

import numpy as np

from badak.kernels.reference._arrays import Array, quiet, rows
from badak.kernels.reference.matmul import in_half, rounded


@quiet
def linear(x: Array, w: Array, b: Array | None, kind: np.dtype | None = None) -> Array:
    """y = x w^T + b.    x (..., K), w (N, K), b (N,) or None -> (..., N).

    kind: the result's dtype, x's where there is none. Where it, x or w is bfloat16, x and w are rounded to bfloat16, products and
    b are summed in float32, and the sums are rounded once.
    """
    kind, half = kind or x.dtype, in_half(kind, x, w)
    y = rounded(rows(x)) @ rounded(w).T if half else rows(x) @ w.T
    if b is not None:
        y += b
    return (y.astype(kind, copy=False) if half else y).reshape(*x.shape[:-1], w.shape[0])


@quiet
def linear_backward(dy: Array, x: Array, w: Array, needs: tuple[bool, ...]) -> tuple[Array | None, ...]:
    """dx, dw, db.    dy (..., N).

    dx = dy w        dw = sum over rows of dy^T x        db = sum over rows of dy

    Where dy is bfloat16, x and w are rounded to bfloat16; dx has x's dtype, dw and db have w's: sums of float32, rounded once.
    """
    if in_half(None, dy):
        made = linear_backward(rounded(dy), rounded(x), rounded(w), needs)
        return tuple([y if y is None else y.astype(like.dtype, copy=False) for y, like in zip(made, (x, w, w))])
    dy2 = rows(dy)
    dx = (dy2 @ w).reshape(x.shape) if needs[0] else None
    dw = dy2.T @ rows(x) if needs[1] else None
    db = dy2.sum(axis=0) if needs[2] else None
    return dx, dw, db
