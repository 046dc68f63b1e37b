"""Root-mean-square normalisation. Source: Zhang, Sennrich, "Root Mean Square Layer Normalization" (2019), eq.
4."""

import numpy as np

from badak.kernels.memory_format import row_major
from badak.kernels.reference._arrays import Array, in_float32, quiet, rows


@quiet
@in_float32("x", None)
def rms_norm(x: Array, w: Array | None, eps: float) -> tuple[Array, Array]:
    """y, rstd.    x (..., C), w (C,) or None -> y (..., C), rstd (...).

    rstd = 1 / sqrt(sum_c x^2 / C + eps)        y = w x rstd
    """
    x = row_major(x)
    rstd = 1 / np.sqrt((x * x).sum(axis=-1, keepdims=True) / max(x.shape[-1], 1) + eps)
    y = x * rstd
    if w is not None:
        y *= w
    return y, rstd[..., 0]


@quiet
@in_float32("x", "w")
def rms_norm_backward(dy: Array, x: Array, w: Array | None, rstd: Array, needs: tuple[bool, ...]) -> tuple[Array | None, ...]:
    """dx, dw.    With h = x rstd and g = w dy, as in layer_norm_backward but without a mean:

    dx = rstd (g - h mean_c(g h))        dw = sum_n dy h
    """
    dy, x = row_major(dy), row_major(x)
    h = x * rstd[..., None]
    dx = None
    if needs[0]:
        g = dy if w is None else dy * w
        along_h = (g * h).sum(axis=-1, keepdims=True) / max(x.shape[-1], 1)
        dx = rstd[..., None] * (g - h * along_h)
    dw = rows(dy * h).sum(axis=0) if needs[1] else None
    return dx, dw
