"""Keeping gradients small: their norm, and limits. Arrays of one dtype, changed in place."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.reference._arrays import Array, quiet

BLOCK = 1 << 14  # elements whose norm is rounded at once: the order of the sum is fixed


@quiet
def norm_all(grads: Sequence[Array], p: float, memo: dict[str, Any]) -> Array:
    """(sum over arrays and elements |g|^p)^(1/p), 0-d in the arrays' real dtype, summed in double precision.

    p = inf: the largest |g|, -inf: the smallest. NaN where an element is. p = 0, as in PyTorch: how many arrays are not all 0.
    memo: empty at first; what a set keeps for a `shrink_all` of the same arrays.
    """
    dtype = grads[0].real.dtype
    if p == 0:
        return np.array(sum(bool((grad != 0).any()) for grad in grads), dtype)
    norms = [_p_norm(abs(block).astype(np.float64), p) for grad in grads for block in _blocks(grad)]
    return np.array(_p_norm(np.array(norms, value_dtype(dtype)).astype(np.float64), p), dtype)


@quiet
def shrink_all(grads: Sequence[Array], norm: Array, most: float, memo: dict[str, Any]) -> None:
    """g = g min(1, most / (norm + 1e-6)); a factor that is NaN spreads."""
    norm = norm.astype(value_dtype(norm.dtype), copy=False)
    factor = most / (norm + norm.dtype.type(1e-6))
    if not factor >= 1:
        for grad in grads:
            grad *= factor


@quiet
def limit_all(grads: Sequence[Array], low: float, high: float) -> None:
    """g = min(max(g, low), high); NaN stays."""
    for grad in grads:
        grad.clip(low, high, out=grad)


def _blocks(array: Array) -> Iterable[Array]:
    flat = array.reshape(-1)
    return (flat[start : start + BLOCK] for start in range(0, flat.size, BLOCK))


def _p_norm(x: Array, p: float) -> float:
    """The p-norm of doubles that are not negative; 0 of none."""
    if not x.size:
        return 0.0
    if math.isinf(p):
        return float(x.max() if p > 0 else x.min())
    if p == 2:
        return float(np.sqrt(np.add.reduce(x * x)))
    return float(np.add.reduce(x**p) ** (1 / p))  # infinite where p < 0 and all is


def clip_kept(grads: Sequence[Array], p: float = 2.0) -> bool:
    """Whether calls of kernels alone clip these: then a replay may play them. None do in this set."""
    return False
