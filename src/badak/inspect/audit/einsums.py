"""Scores and values by einsum: which axis is which, and the arrays as a matmul would have them."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from badak.inspect.audit.graph import Ran


def scored(below: "Ran") -> tuple[np.ndarray | None, np.ndarray | None]:
    """Queries (..., T, D) and keys (..., S, D) of scores by einsum, (..., T, S)."""
    (a, b), (ta, tb, ty) = below.inputs[:2], (below.attributes[each] for each in ("ta", "tb", "ty"))
    if ty[-1] not in tb:
        a, b, ta, tb = b, a, tb, ta
    over, ty = "".join(c for c in ta if c not in ty), asking_last(ty, ta, tb)
    queries = laid(a, ta, ty[:-1] + over)
    return a if queries is None else queries, laid(b, tb, ty[:-2] + ty[-1] + over)


def asking_last(letters: str, asks: str, answers: str) -> str:
    """The axes of scores with that of the queries just before that of the keys, which is the last: (B, T, H, S) as (B, H, T, S)."""
    lone = [c for c in letters[:-1] if c in asks and c not in answers]
    if len(lone) != 1 or any(c not in asks + answers for c in letters):
        return letters
    return letters[:-1].replace(lone[0], "") + lone[0] + letters[-1]


def asks_along(product: "Ran") -> int | None:
    """The axis of the queries in scores by einsum, where that is not the last but one."""
    ta, tb, ty = (product.attributes[each] for each in ("ta", "tb", "ty"))
    laid = asking_last(ty, *((ta, tb) if ty[-1] in tb else (tb, ta)))
    return ty.index(laid[-2]) if laid != ty else None


def summed(core: "Ran", side: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Values (..., S, D), the input `side`, and what an einsum with weights (..., T, S) makes of them, (..., T, D)."""
    t = [core.attributes[each] for each in ("ta", "tb")]
    weights, values, ty = t[1 - side], t[side], core.attributes["ty"]
    weights = asking_last(weights, ty, values)
    width = "".join(c for c in ty if c not in weights)
    mixed = laid(core.output, ty, weights[:-1] + width)
    return laid(core.inputs[side], values, weights[:-2] + weights[-1] + width), core.output if mixed is None else mixed


def laid(x: np.ndarray | None, letters: str, wanted: str) -> np.ndarray | None:
    """An array whose axes are `letters`, with them as `wanted`, an axis that it lacks as one of 1; None where those are others."""
    if x is None or set(letters) - set(wanted) or x.ndim != len(letters):
        return None
    lacks = "".join(c for c in wanted if c not in letters)
    return x.reshape(*(1,) * len(lacks), *x.shape).transpose([(lacks + letters).index(c) for c in wanted])
