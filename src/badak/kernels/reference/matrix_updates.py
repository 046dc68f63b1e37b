"""Updates of parameters that look at whole matrices, in place: what `kernels/update.py` cannot say of one element."""

import math

import numpy as np
from ml_dtypes import bfloat16

from badak.kernels.reference._arrays import Array, quiet


@quiet
def adafactor(
    p: Array, g: Array, memory: list[Array], mix: float, rate: float, keep: float, floor: float, size: float, d: float
) -> None:
    """One step of Adafactor. memory: [row (..., R, 1), column (..., 1, C)] of a matrix, [square] of a vector.

    mix: how much the new squares count. rate: the step relative to the root mean square of p, which counts as `size` at least.
    keep: what decay leaves of p. floor: below which a variance is held to be 0. d: the largest root mean square of an update.
    """
    alpha = max(size, _root_mean_square(p)) * rate
    p *= keep
    if len(memory) == 2:
        row, column = memory
        row += mix * (np.mean(g * g, -1, keepdims=True) - row)
        column += mix * (np.mean(g * g, -2, keepdims=True) - column)
        v = row @ column / np.maximum(np.mean(row, -2, keepdims=True), floor)
    else:
        memory[0] += mix * (g * g - memory[0])
        v = memory[0]
    update = g / np.sqrt(np.maximum(v, floor * floor))
    p += -alpha / max(1.0, _root_mean_square(update) / d) * update


def _root_mean_square(x: Array) -> float:
    return float(np.sqrt(np.sum(x * x))) / math.sqrt(x.size) if x.size else math.nan


@quiet
def muon(
    p: Array, g: Array, m: Array, momentum: float, nesterov: bool, keep: float, rate: float, powers: tuple, steps: int, eps: float
) -> None:
    """One step of Muon on a matrix p (R, C) with its running mean m. keep: what decay leaves of p."""
    m += (1 - momentum) * (g - m)
    p *= keep
    p -= rate * orthogonalized(g + momentum * (m - g) if nesterov else m, powers, steps, eps).astype(p.dtype)


def orthogonalized(x: Array, powers: tuple[float, float, float], steps: int, eps: float) -> Array:
    """Near U V' of x = U S V' in float32, by `steps` times x = a x + (b x x' + c (x x')^2) x, every result rounded to bfloat16.

    The polynomial draws all singular values of a matrix with norm <= 1 near 1. Source: Jordan et al. 2024, "Muon: An optimizer
    for hidden layers in neural networks".
    """
    a, b, c = powers
    tall = x.shape[0] > x.shape[1]
    x = _rounded(x.T if tall else x)
    x = _rounded(x / max(float(_rounded(np.sqrt(np.sum(x * x)))), eps))
    for _ in range(steps):
        square = _rounded(x @ x.T)
        x = _rounded(a * x + _rounded(b * square + c * (square @ square)) @ x)
    return x.T if tall else x


def _rounded(x: Array) -> Array:
    return np.asarray(x, np.float32).astype(bfloat16).astype(np.float32)
