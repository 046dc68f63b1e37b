"""Sums, differences, products and quotients of arrays; one or the other of two by a mask."""

from typing import Any

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.reference._arrays import Array, elementwise, quiet, wide


def arithmetic(ufunc: Any, a: Any, b: Any, out: Array | None = None) -> Array:
    """y = ufunc(a, b) for a function of NumPy; into `out` where given, which may be a or b itself.

    One of a and b may be a Python number, which takes the other's dtype. bfloat16 is computed in float32 with the number as it
    is, and y rounded once; next to float32 it gives float32.
    """
    return _new(ufunc, a, b) if out is None else _into(ufunc, a, b, out)


@elementwise
def _new(ufunc: Any, a: Any, b: Any) -> Array:
    kinds = [x.dtype for x in (a, b) if isinstance(x, np.ndarray)]
    if BFLOAT16 not in kinds:
        return ufunc(a, b)
    return ufunc(wide(a), wide(b)).astype(np.result_type(*kinds), copy=False)


@quiet
def _into(ufunc: Any, a: Any, b: Any, out: Array) -> Array:
    if out.dtype != BFLOAT16:
        return ufunc(wide(a), wide(b), out=out)
    out[...] = ufunc(wide(a), wide(b))
    return out


@elementwise
def where(keep: Array, a: Any, b: Any) -> Array:
    """y = a where keep, else b. One of a and b may be a number, which takes the other's dtype."""
    if not isinstance(a, np.ndarray):
        a = b.dtype.type(a)
    return np.where(keep, a, b if isinstance(b, np.ndarray) else a.dtype.type(b))
