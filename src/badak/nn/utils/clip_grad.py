"""Keeping gradients small, between backward() and step(): by their norm, or value by value."""

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from badak.errors import ArgumentError, BadakWarning, warn_once
from badak.graph import live
from badak.tensor import Tensor

BLOCK = 1 << 16  # elements whose squares are summed at once: they stay in the cache, and the order of the sum is fixed


@live
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients, in place, so that their common norm is at most `max_norm`; returns the norm before.

        norm = (sum over parameters and elements |grad|^p)^(1/p)        grad = grad min(1, max_norm / (norm + 1e-6))

    parameters: tensors, or one; those without a gradient are passed over. norm_type: p > 0, or math.inf for the largest
    absolute value. `foreach` is accepted and changes nothing. The sum runs in a fixed order: same gradients, same bits.
    Raises ArgumentError where the norm is NaN or infinite and `error_if_nonfinite`; otherwise such gradients become NaN or 0.
    Source: Pascanu, Mikolov and Bengio 2013, "On the difficulty of training recurrent neural networks", algorithm 1.
    """
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not listed and isinstance(parameters, Iterator):
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.\n"
            "fix: an iterator that was read once is empty, call model.parameters() again",
            BadakWarning,
            stacklevel=2,
        )
    total_norm = get_total_norm([p._grad for p in listed if p._grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total_norm)
    return total_norm


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The p-norm of all elements of all tensors, as a 0-d tensor: (sum |x|^p)^(1/p). See `clip_grad_norm_`."""
    arrays = [tensor._array for tensor in ([tensors] if isinstance(tensors, Tensor) else tensors)]
    if not arrays:
        return Tensor._of(np.zeros((), np.float32))
    dtype = np.result_type(*{array.dtype for array in arrays})
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        norm = _p_norm([_p_norm(_blocks(array), float(norm_type)) for array in arrays], float(norm_type))
    if error_if_nonfinite and not math.isfinite(norm):
        raise ArgumentError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite ({norm}), "
            "so it cannot be clipped.",
            "find what made it with badak.autograd.detect_anomaly(), or set error_if_nonfinite=False",
        )
    with np.errstate(over="ignore"):
        return Tensor._of(np.asarray(norm, dtype))


@live
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients, in place, by min(1, max_norm / (total_norm + 1e-6)) for a norm computed before."""
    factor = float(max_norm) / (total_norm._array + total_norm._array.dtype.type(1e-6))
    if factor >= 1.0:  # False for NaN, which is to spread
        return
    with np.errstate(invalid="ignore"):  # an infinite gradient times 0 is to be NaN
        for grad in _grads(parameters):
            array = grad._array
            array *= factor if factor.dtype == array.dtype else factor.astype(array.dtype)
            grad._watch().bump("clip_grad_norm_")


@live
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of every gradient, in place: grad = min(max(grad, -clip_value), clip_value)."""
    limit = float(clip_value)
    for grad in _grads(parameters):
        grad._array.clip(-limit, limit, out=grad._array)
        grad._watch().bump("clip_grad_value_")


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warn_once(
        "clip_grad_norm",
        "clip_grad_norm is now deprecated in favor of clip_grad_norm_.",
        "clip_grad_norm_(...), with an underscore",
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def _grads(parameters: Tensor | Iterable[Tensor]) -> Iterator[Tensor]:
    for p in [parameters] if isinstance(parameters, Tensor) else parameters:
        if p._grad is not None:
            yield p._grad


def _blocks(array: Any) -> Iterable[Any]:
    flat = array.reshape(-1)
    if flat.size <= BLOCK:
        return (flat,)
    return (flat[start : start + BLOCK] for start in range(0, flat.size, BLOCK))


def _p_norm(parts: Iterable[Any], p: float) -> float:
    """The p-norm over arrays or numbers; each part is reduced in its own dtype, the parts in float64."""
    if p == 2.0:
        return math.sqrt(_sum(part * part for part in parts))
    if p in (math.inf, -math.inf):
        extremes = [
            abs(part) if isinstance(part, float) else float(abs(part).max() if p > 0 else abs(part).min())
            for part in parts
        ]
        if any(math.isnan(value) for value in extremes):
            return math.nan
        return (max if p > 0 else min)(extremes, default=0.0)
    if p == 0.0:
        return _sum((part != 0) * 1.0 for part in parts)
    total = _sum(abs(part) ** p for part in parts)
    return total ** (1.0 / p) if total or p > 0 else 0.0


def _sum(parts: Iterable[Any]) -> float:
    return sum(float(np.add.reduce(part, axis=None)) for part in parts)
