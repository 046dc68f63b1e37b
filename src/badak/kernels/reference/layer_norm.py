"""Layer normalisation over the last axis. Source: Ba, Kiros, Hinton, "Layer Normalization" (2016), eq. 3, and
eq. 4 for w and b."""

from functools import lru_cache

import numpy as np

from badak.kernels.memory_format import row_major
from badak.kernels.reference._arrays import Array, in_float32, quiet, rows


@lru_cache(256)
def rounding(count: int, dtype: np.dtype) -> float:
    """The square of the most by which a mean of so many numbers is rounded, in units of the mean."""
    return (count * float(np.finfo(dtype).eps)) ** 2


@quiet
@in_float32("x", None, None)
def layer_norm(x: Array, w: Array | None, b: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """y, mean, rstd.    x (..., C), w and b (C,) or None -> y (..., C), mean (...), rstd (...).

        mean = sum_c x / C     rstd = 1 / sqrt(sum_c (x - mean)^2 / C + eps)     y = w (x - mean) rstd + b

    Two passes: the variance is that of the centred row, so that a large mean costs no digits. Where it is as little as the rounding
    of the mean makes it, the mean is that of the centred row in addition: of equal numbers, y is b and no noise.
    """
    x = row_major(x)
    channels = max(x.shape[-1], 1)
    mean = x.sum(axis=-1, keepdims=True) / channels
    y = x - mean
    var = (y * y).sum(axis=-1, keepdims=True) / channels
    rough = var <= np.square(mean) * rounding(channels, x.dtype)
    if rough.any():
        mean = mean + np.where(rough, y.sum(axis=-1, keepdims=True) / channels, 0).astype(mean.dtype)
        y = x - mean
        var = (y * y).sum(axis=-1, keepdims=True) / channels
    rstd = 1 / np.sqrt(var + eps)
    y *= rstd
    if w is not None:
        y *= w
    if b is not None:
        y += b
    return y, mean[..., 0], rstd[..., 0]


@quiet
@in_float32("x", "w", "w")
def layer_norm_backward(
    dy: Array, x: Array, w: Array | None, mean: Array, rstd: Array, needs: tuple[bool, ...]
) -> tuple[Array | None, ...]:
    """dx, dw, db.    dy and x (..., C), mean and rstd (...).

    Let h = (x - mean) rstd and g = w dy, the gradient of h. Both statistics depend on every x of the row:
    dmean/dx = 1/C and drstd/dx = -rstd^2 h / C. The chain rule through h gives

        dx = rstd (g - mean_c(g) - h mean_c(g h))        dw = sum_n dy h        db = sum_n dy

    that is, g without its components along the two directions that normalisation removes: the constant and h.
    """
    dy, x, channels = row_major(dy), row_major(x), max(x.shape[-1], 1)
    h = (x - mean[..., None]) * rstd[..., None]
    dx = None
    if needs[0]:
        g = dy if w is None else dy * w
        along_ones = g.sum(axis=-1, keepdims=True) / channels
        along_h = (g * h).sum(axis=-1, keepdims=True) / channels
        dx = rstd[..., None] * (g - along_ones - h * along_h)
    dw = rows(dy * h).sum(axis=0) if needs[1] else None
    db = rows(dy).sum(axis=0) if needs[2] else None
    return dx, dw, db
