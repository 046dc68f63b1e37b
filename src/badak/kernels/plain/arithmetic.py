"""Sums, differences, products and quotients of arrays; one or the other of two by a mask."""

from typing import Any

import numpy as np

from badak.kernels.plain._arrays import Array, elementwise, quiet


def arithmetic(ufunc: Any, a: Any, b: Any, out: Array | None = None) -> Array:
    """y = ufunc(a, b) for a function of NumPy; into `out` where given, which may be a or b itself.

    One of a and b may be a Python number, which takes the other's dtype.
    """
    return _new(ufunc, a, b) if out is None else _into(ufunc, a, b, out)


@elementwise
def _new(ufunc: Any, a: Any, b: Any) -> Array:
    return ufunc(a, b)


@quiet
def _into(ufunc: Any, a: Any, b: Any, out: Array) -> Array:
    return ufunc(a, b, out=out)


@elementwise
def where(keep: Array, a: Any, b: Any) -> Array:
    """y = a where keep, else b. One of a and b may be a number, which takes the other's dtype."""
    if not isinstance(a, np.ndarray):
        a = b.dtype.type(a)
    return np.where(keep, a, b if isinstance(b, np.ndarray) else a.dtype.type(b))
