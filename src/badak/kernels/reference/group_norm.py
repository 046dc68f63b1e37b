"""Group normalisation: layer normalisation of groups of channels. Source: Wu, He, "Group Normalization" (2018), eq. 1 and 6."""

import math

from badak.kernels.memory_format import row_major
from badak.kernels.reference._arrays import Array, in_float32, quiet
from badak.kernels.reference._channels import all_but_channels, of_channels
from badak.kernels.reference.layer_norm import layer_norm, layer_norm_backward


@quiet
@in_float32("x", None, None)
def group_norm(x: Array, w: Array | None, b: Array | None, groups: int, eps: float) -> tuple[Array, Array, Array]:
    """y = w (x - mean) rstd + b, mean, rstd.    x (N, C, ...), w and b (C,) or None -> y of x's shape, mean and rstd (N, G).

    Mean and variance are those of a group of C / G channels.
    """
    y, mean, rstd = layer_norm(_by_group(x, groups), None, None, eps)
    y = y.reshape(x.shape)
    y = y if w is None else y * of_channels(w, x)
    return y if b is None else y + of_channels(b, x), mean, rstd


@quiet
@in_float32("x", "w", "w")
def group_norm_backward(
    dy: Array, x: Array, w: Array | None, mean: Array, rstd: Array, needs: tuple[bool, ...]
) -> tuple[Array | None, ...]:
    """dx, dw, db.    dy and x (N, C, ...), mean and rstd (N, G).

    With h = (x - mean) rstd:   dw = sum dy h   and   db = sum dy   over all but the channels, and dx that of a layer norm of
    the group whose gradient is w dy.
    """
    groups, dx, dw = mean.shape[1], None, None
    dy, x = row_major(dy), row_major(x)
    if needs[0]:
        g = _by_group(dy if w is None else dy * of_channels(w, x), groups)
        dx = layer_norm_backward(g, _by_group(x, groups), None, mean, rstd, (True, False, False))[0].reshape(x.shape)
    if needs[1]:
        h = (_by_group(x, groups) - mean[..., None]) * rstd[..., None]
        dw = (dy * h.reshape(x.shape)).sum(axis=all_but_channels(x))
    return dx, dw, dy.sum(axis=all_but_channels(x)) if needs[2] else None


def _by_group(x: Array, groups: int) -> Array:
    """x (N, C, ...) as (N, G, C / G ...)."""
    return row_major(x).reshape(x.shape[0], groups, x.shape[1] // groups * math.prod(x.shape[2:]))
