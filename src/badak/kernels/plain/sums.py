"""The sum of two arrays."""

import numpy as np

from badak.kernels.plain._arrays import Array, elementwise, quiet


def column_sum(x: Array) -> Array:
    """sum_n x[n] for x (N, C)."""
    return x.sum(axis=0)


def add(a: Array, b: Array, out: Array | None = None) -> Array:
    """y = a + b, into `out` where given, which may be a or b itself."""
    return _add(a, b) if out is None else _add_into(a, b, out=out)


_add, _add_into = elementwise(np.add), quiet(np.add)
