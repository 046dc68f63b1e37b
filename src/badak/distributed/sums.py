"""How values of several ranks become one, in a fixed order: a tree over the ranks, ((0 + 1) + (2 + 3)) + ...

Neighbours first, then neighbouring pairs. Where n is a power of two the tree over n ranks is the top of the tree over 2n, so a
sum over shards has the same bits however many ranks they lie on, as long as each rank adds its own shards in this order, too.
"""

from enum import Enum
from typing import Any

import numpy as np

from badak.core.errors import DTypeError, tr


class ReduceOp(Enum):
    """How values of several ranks become one. AVG is for floats; BAND, BOR and BXOR for integers and bool."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # PyTorch's class of the members


_UFUNCS = {
    ReduceOp.SUM: np.add, ReduceOp.AVG: np.add, ReduceOp.PRODUCT: np.multiply, ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum, ReduceOp.BAND: np.bitwise_and, ReduceOp.BOR: np.bitwise_or, ReduceOp.BXOR: np.bitwise_xor,
}  # fmt: skip
STEP = 2**16  # numbers at a time
_WHOLE = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def check(op: ReduceOp, dtype: np.dtype, where: str) -> None:
    """Raise DTypeError where values of this dtype cannot be joined so."""
    whole = dtype.kind in "iub"
    if op in _WHOLE and not whole:
        raise DTypeError(tr("{}: ReduceOp.{} needs integers or bool; got {}", where, op.name, dtype), "ReduceOp.SUM, MIN or MAX")
    if op is ReduceOp.AVG and whole:
        raise DTypeError(tr("{}: ReduceOp.AVG needs floats; got {}", where, dtype), "ReduceOp.SUM, then divide")
    if op in (ReduceOp.MIN, ReduceOp.MAX) and dtype.kind == "c":
        raise DTypeError(tr("{}: ReduceOp.{} needs an order; got {}", where, op.name, dtype), "ReduceOp.SUM")


def cut(size: int, n: int) -> list[int]:
    """Where a row of `size` numbers is cut into n nearly equal pieces."""
    return [size * i // n for i in range(n + 1)]


def tree(parts: list[np.ndarray], op: ReduceOp, out: np.ndarray | None = None) -> np.ndarray:
    """All parts as one, in `out`, which may be one of them, else in parts[0]; any part may be written to."""
    ufunc, out, distance = _UFUNCS[op], parts[0] if out is None else out, 1
    with np.errstate(all="ignore"):
        while distance < len(parts):
            top = 2 * distance >= len(parts)
            for i in range(0, len(parts) - distance, 2 * distance):
                join(ufunc, parts[i], parts[i + distance], out if top else parts[i])
            distance *= 2
        if op is ReduceOp.AVG:
            divide(out, len(parts))
    return out


def tree_in_pieces(parts: list[np.ndarray], op: ReduceOp, out: np.ndarray, copy: np.ndarray | None = None) -> None:
    """`tree` of two parts or more, in pieces that stay in the cache; `copy` becomes the same as `out`."""
    for at in range(0, out.size, STEP):
        here = slice(at, at + STEP)
        made = tree([part[here] for part in parts], op, out[here])
        if copy is not None:
            copy[here] = made


def join(ufunc: Any, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a with b."""
    if a.dtype.kind == "b" and ufunc is np.multiply:
        ufunc = np.logical_and
    ufunc(a, b, out=out)


def mean(a: np.ndarray, n: int) -> np.ndarray:
    """a / n, in its memory."""
    with np.errstate(all="ignore"):
        divide(a, n)
    return a


def divide(a: np.ndarray, n: int) -> None:
    """a = a / n."""
    if a.dtype.kind == "f" and n & (n - 1) == 0 and n < 2**14:  # 1 / n is exact: the same bits in less time
        np.multiply(a, np.asarray(1 / n, a.dtype), out=a)
    else:
        np.divide(a, np.asarray(n, a.dtype), out=a)
