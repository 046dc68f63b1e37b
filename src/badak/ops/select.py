"""Choosing, element by element: bounds, the larger of two, one or the other by a mask, what dropout keeps."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.modes import anywhere, modes
from badak.kernels import LARGE
from badak.kernels.memory_format import laid, row_major
from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops.batching import broadcasting, stacked
from badak.ops.op import Op
from badak.ops.operation import operation
from badak.ops.pointwise import pointwise

_FEW = 4096  # elements up to which NumPy chooses as fast: its loop has a branch, which misses at every second element of noise


def choose(keep: Any, a: np.ndarray | float, b: Any) -> np.ndarray:
    """a where keep, else b; one of them may be a number, which takes the other's dtype. By kernels where there are many, or
    where it is recorded."""
    x = a if hasattr(a, "dtype") else b
    if type(x) is np.ndarray is type(keep) and (x.size > _FEW or (anywhere.has_observers and modes.observer is not None)):
        return kernels.of(x).where(keep, a, b)
    kind = x.dtype.type
    y = np.where(keep, a if hasattr(a, "dtype") else kind(a), b if hasattr(b, "dtype") else kind(b))
    return laid(y, keep, a, b) if type(y) is np.ndarray else y


class Clamp(Op):
    """y = min(max(x, lo), hi) for numbers lo, hi (None: no bound);   dx = dy [lo <= x <= hi]."""

    @staticmethod
    @elementwise
    def forward(save: Any, x: np.ndarray, lo: np.ndarray | float | None, hi: np.ndarray | float | None) -> np.ndarray:
        save.x, save.lo, save.hi = x, lo, hi
        if x.size >= LARGE and type(lo) is float and type(hi) is float:
            return kernels.of(x).hardtanh(x, lo, hi)
        y = x if lo is None else np.maximum(x, lo)
        return y if hi is None else np.minimum(y, hi)

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> Any:
        x, lo, hi = saved.x, saved.lo, saved.hi
        inside = x >= lo if lo is not None else x <= hi
        if lo is not None and hi is not None:
            inside &= x <= hi
        return choose(inside, dy, 0)


class ClampBetween(Op):
    """y = min(max(x, lo), hi) for arrays lo, hi (None: no bound).

    dx = dy [lo <= x <= hi];   dlo = dy [x < lo < hi];   dhi = dy [x > hi or hi < lo].
    """

    name = "clamp"
    forward = Clamp.forward

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> tuple:
        x, lo, hi = saved.x, saved.lo, saved.hi
        nx, nlo, nhi = saved.needs
        below, reached = (False, True) if lo is None else (x < lo, x >= lo)
        above, kept = (False, True) if hi is None else (x > hi, x <= hi)
        crossed = False if lo is None or hi is None else hi < lo
        dx = unbroadcast(choose(reached & kept, dy, 0), x.shape) if nx else None
        dlo = unbroadcast(choose(below & np.logical_not(crossed), dy, 0), lo.shape) if nlo else None
        return dx, dlo, unbroadcast(choose(above | crossed, dy, 0), hi.shape) if nhi else None


Maximum = pointwise(
    "Maximum", "y = max(a, b);   dy goes to the larger one, and half of it to each where they are equal.", np.maximum,
    lambda dy, g, a, b: choose(a < b, 0, g),
    lambda dy, g, a, b: choose(a > b, 0, g),
    shared=lambda dy, a, b: choose(a == b, dy * 0.5, dy),
)  # fmt: skip


Minimum = pointwise(
    "Minimum", "y = min(a, b);   dy goes to the smaller one, and half of it to each where they are equal.", np.minimum,
    lambda dy, g, a, b: choose(a > b, 0, g),
    lambda dy, g, a, b: choose(a < b, 0, g),
    shared=lambda dy, a, b: choose(a == b, dy * 0.5, dy),
)  # fmt: skip


_CHOOSING: dict = {"stretched": True, "data_movement": True, "capturable": True, "keeps_finite": True, "batching": broadcasting}
Where = operation(
    "Where", "y = a where keep, else b;   da = dy where keep, else 0;   db = 0 where keep, else dy.", choose,
    None,
    lambda dy, keep: choose(keep, dy, 0),
    lambda dy, keep: choose(keep, 0, dy), **_CHOOSING,
)  # fmt: skip


MaskedFill = operation(
    "MaskedFill", "y = c where mask, else x;   dx = 0 where mask, else dy.",
    lambda x, mask, c: row_major(choose(mask, c, x)),
    lambda dy, mask: choose(mask, 0, dy),
    None, **_CHOOSING,
)  # fmt: skip

Dropout = operation(
    "Dropout", "y = x keep / (1 - p);   dx = dy keep / (1 - p).    keep bool of x's shape, True = kept.",
    lambda x, keep, p: kernels.of(x).dropout(x, keep, p),
    lambda dy, keep, p: kernels.of(dy).dropout(dy, keep, p),
    None,
    capturable=True, supports_bf16=True, keeps_finite=True, batching=stacked,
)  # fmt: skip
