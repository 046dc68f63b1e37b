"""The channels of x (N, C, ...)."""

from badak.kernels.reference._arrays import Array


def all_but_channels(x: Array) -> tuple[int, ...]:
    """The axes that a sum over each channel goes over."""
    return (0, *range(2, x.ndim))


def of_channels(v: Array, x: Array) -> Array:
    """v (C,) next to x (N, C, ...)."""
    return v.reshape(v.size, *(1,) * (x.ndim - 2))
