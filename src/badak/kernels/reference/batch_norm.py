"""Batch normalisation: of each channel over the batch and the positions. Source: Ioffe, Szegedy, "Batch Normalization" (2015),
algorithm 1, and its backward in section 3."""

import numpy as np

from badak.kernels.memory_format import channels_innermost, channels_last, row_major
from badak.kernels.reference._arrays import Array, in_float32, quiet
from badak.kernels.reference._channels import all_but_channels, of_channels


@quiet
@in_float32()
def batch_norm(x: Array, w: Array | None, b: Array | None, mean: Array, var: Array, eps: float) -> Array:
    """y = w (x - mean) / sqrt(var + eps) + b.    x (N, C, ...), the others (C,); y lies as images x do, else row-major."""
    scale = 1 / np.sqrt(var + eps)
    y = (x - of_channels(mean, x)) * of_channels(scale if w is None else scale * w, x)
    if b is not None:
        y = y + of_channels(b, x)
    return _laid(y.astype(x.dtype, copy=False), x)


@quiet
@in_float32("x", "w", "w")
def batch_norm_backward(
    dy: Array, x: Array, w: Array | None, mean: Array, var: Array, eps: float, moving: bool, needs: tuple[bool, ...]
) -> tuple[Array | None, ...]:
    """dx, dw, db.    dy and x (N, C, ...), the others (C,).

    Let h = (x - mean) rstd and g = w dy, the gradient of h:

        dw = sum dy h        db = sum dy        dx = rstd g

    `moving`: mean and var are those of x itself, and move with it. Then, as in layer norm, dx loses its components along what
    normalisation removes, the constant and h. All values of a channel share w, so that both are sums that are there already:

        dx = rstd (g - mean(g) - h mean(g h)) = w rstd (dy - db / M - h dw / M)
    """
    axes, count = all_but_channels(x), max(x.size // max(x.shape[1], 1), 1)
    rstd = 1 / np.sqrt(var + eps)
    h = (x - of_channels(mean, x)) * of_channels(rstd, x)
    dw, db = (dy * h).sum(axis=axes, dtype=np.float64), dy.sum(axis=axes, dtype=np.float64)
    dx = None
    if needs[0]:
        dx = dy - of_channels(db / count, x) - h * of_channels(dw / count, x) if moving else dy
        dx = _laid((dx * of_channels(rstd if w is None else rstd * w, x)).astype(x.dtype, copy=False), x)
    return dx, dw.astype(x.dtype) if needs[1] else None, db.astype(x.dtype) if needs[2] else None


def _laid(y: Array, x: Array) -> Array:
    """y with the channels of a pixel side by side where those of the images x are, else row-major."""
    if not channels_last(x):
        return row_major(y)
    return y if channels_last(y) else channels_innermost(y)
