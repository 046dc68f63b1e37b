"""Arrays side by side."""

from collections.abc import Sequence

import numpy as np

from badak.kernels.memory_format import joined
from badak.kernels.reference._arrays import Array


def concatenate(xs: Sequence[Array], axis: int) -> Array:
    """The arrays one after the other along `axis`."""
    for x in xs:
        if not x.flags.c_contiguous:
            return np.concatenate(xs, axis, out=side_by_side(xs, axis))
    return np.concatenate(xs, axis)


def contiguous(x: Array) -> Array:
    """x, or a copy that is row-major."""
    return np.ascontiguousarray(x)


def side_by_side(xs: Sequence[Array], axis: int) -> np.ndarray:
    """An empty array for them."""
    shape = list(xs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in xs)
    return joined(tuple(shape), np.result_type(*xs), *xs)
