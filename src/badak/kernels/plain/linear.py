"""The affine map of the last axis."""

from badak.kernels.plain._arrays import Array, quiet, rows


@quiet
def linear(x: Array, w: Array, b: Array | None) -> Array:
    """y = x w^T + b.    x (..., K), w (N, K), b (N,) or None -> (..., N)."""
    y = rows(x) @ w.T
    if b is not None:
        y += b
    return y.reshape(*x.shape[:-1], w.shape[0])


@quiet
def linear_backward(dy: Array, x: Array, w: Array, needs: tuple[bool, ...]) -> tuple[Array | None, ...]:
    """dx, dw, db.    dy (..., N).

    dx = dy w        dw = sum over rows of dy^T x        db = sum over rows of dy
    """
    dy2 = rows(dy)
    dx = (dy2 @ w).reshape(x.shape) if needs[0] else None
    dw = dy2.T @ rows(x) if needs[1] else None
    db = dy2.sum(axis=0) if needs[2] else None
    return dx, dw, db
