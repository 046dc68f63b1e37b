"""Entries along one axis, picked by their positions, and added there."""

import numpy as np

from badak.kernels.reference._arrays import Array, at_places


def gather(x: Array, index: Array, dim: int) -> Array:
    """y[i0, .., ik, .., in] = x[i0, .., index[i0, .., in], .., in], at position k = dim."""
    return x[grid(index, dim)]


def grid(index: Array, dim: int) -> tuple:
    """The key with which x[key] picks x[i0, .., index[i0, .., in], .., in], `index` replacing the coordinate `dim`."""
    n = index.ndim
    return tuple(
        index if a == dim else np.arange(size).reshape((1,) * a + (size,) + (1,) * (n - 1 - a))
        for a, size in enumerate(index.shape)
    )


def scatter_add(y: Array, index: Array, src: Array, dim: int) -> None:
    """y[i0, .., index[i0, .., in], .., in] += src[i0, .., in], in place and in order."""
    at_places(np.add, y, grid(index, dim), src)


def index_add(y: Array, index: Array, src: Array, dim: int) -> None:
    """y's slice index[k] along `dim` += src's slice k, in place and in order."""
    at_places(np.add, y, (*(slice(None),) * dim, index), src)
