"""Keeping gradients small, between backward() and step(): by their norm, or value by value."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import is_
from typing import Any

import numpy as np

from badak import kernels
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, tr, warn, warn_once
from badak.tensor import Tensor


def _kept_norm(
    parameters: Any, max_norm: Any, norm_type: Any = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> tuple[Callable[[], bool], list[Tensor]] | None:
    """How a recorded `clip_grad_norm_` goes on by its kernel calls; see `events.state`. They have the limit as a number."""
    fixed = type(max_norm) in (int, float) and type(norm_type) in (int, float) and not error_if_nonfinite
    return _kept(parameters, norm_type, "clip_grad_norm_") if fixed else None


def _kept_value(parameters: Any, clip_value: Any, foreach: bool | None = None) -> tuple[Callable[[], bool], list[Tensor]] | None:
    """How a recorded `clip_grad_value_` goes on by its kernel calls."""
    return _kept(parameters, 2.0, "clip_grad_value_") if type(clip_value) in (int, float) else None


def _kept(parameters: Any, p: float, by: str) -> tuple[Callable[[], bool], list[Tensor]] | None:
    """What looks whether the kernel calls still fit and prepares them, and the parameters; None where Python does a part."""
    listed = _tensors(parameters, by)
    gradients = _gradients(listed)
    if len(_by_dtype(gradients)) != 1 or not kernels.of(gradients[0]).clip_kept(gradients, p):
        return None

    def prepare() -> bool:
        now = _tensors(parameters, by)
        arrays = _gradients(now)
        if len(arrays) != len(gradients) or not all(map(is_, arrays, gradients)):
            return False
        _changed(now, by)
        return True

    return prepare, listed


@events.state(prepared=_kept_norm)
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
    absolute value. `foreach` is accepted and changes nothing. The sum runs in a fixed order, in double precision: same
    gradients, same bits.
    Raises ArgumentError where the norm is NaN or infinite and `error_if_nonfinite`; otherwise such gradients become NaN or 0.
    Source: Pascanu, Mikolov and Bengio 2013, "On the difficulty of training recurrent neural networks", algorithm 1.

    Args:
        parameters: tensors, or one
        max_norm: the largest norm that remains
        norm_type: p > 0, or math.inf
        error_if_nonfinite: raise where the norm is NaN or infinite
        foreach: accepted; no effect

    Returns: the norm before clipping, a tensor of one value

    Example:
        >>> w = nn.Parameter(badak.tensor([3.0, 4.0]))
        >>> w.square().sum().backward()
        >>> nn.utils.clip_grad_norm_([w], 1.0).item()
        10.0
    """
    listed = _tensors(parameters, "clip_grad_norm_")
    if not listed and isinstance(parameters, Iterator):
        cause = tr("`parameters` is an empty generator, no gradient clipping will occur.")
        warn(cause, tr("an iterator that was read once is empty, call model.parameters() again"))
    most = _number(max_norm, tr("clip_grad_norm_: max_norm"))
    memo: dict[str, Any] = {}
    norm = _norm(_gradients(listed), _number(norm_type, tr("clip_grad_norm_: norm_type")), error_if_nonfinite, memo)
    _shrink(listed, most, norm, memo)
    return Tensor._of(norm)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The p-norm of all elements of all tensors, as a 0-d tensor: (sum |x|^p)^(1/p). See `clip_grad_norm_`."""
    p = _number(norm_type, tr("get_total_norm: norm_type"))
    return Tensor._of(_norm([x._array for x in _tensors(tensors, "get_total_norm")], p, error_if_nonfinite, {}))


@events.state
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients, in place, by min(1, max_norm / (total_norm + 1e-6)) for a norm computed before."""
    listed = _tensors(parameters, "clip_grads_with_norm_")
    if not isinstance(total_norm, Tensor) or total_norm.numel() != 1:
        cause = tr("clip_grads_with_norm_: total_norm should be a tensor with one element; got {}", _kind(total_norm))
        raise ArgumentTypeError(cause, "total_norm=get_total_norm(gradients)")
    _shrink(listed, _number(max_norm, tr("clip_grads_with_norm_: max_norm")), total_norm._array.reshape(()), {})


@events.state(prepared=_kept_value)
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of every gradient, in place: grad = min(max(grad, -clip_value), clip_value)."""
    most = _number(clip_value, tr("clip_grad_value_: clip_value"))
    listed = _tensors(parameters, "clip_grad_value_")
    for arrays in _by_dtype(_gradients(listed)):
        if arrays[0].dtype.kind == "c":
            raise DTypeError("clip_grad_value_: complex gradients have no order", "clip_grad_norm_(...)")
        kernels.of(arrays[0]).limit_all(arrays, -most, most)
    _changed(listed, "clip_grad_value_")


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    cause = tr("clip_grad_norm is now deprecated in favor of clip_grad_norm_.")
    warn_once("clip_grad_norm", cause, "clip_grad_norm_(...), with an underscore")
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def _norm(arrays: list[Any], p: float, finite: bool, memo: dict[str, Any]) -> Any:
    """The p-norm of arrays of any dtypes, 0-d in the widest of them. Raises where it has to be finite and is not."""
    if not arrays:
        return np.zeros((), np.float32)
    alike = _by_dtype(arrays)
    norms = [kernels.of(each[0]).norm_all(each, p, memo) for each in alike]
    if len(norms) > 1:
        together = np.array(norms, np.result_type(*norms))
        norm = np.asarray(together.sum()) if p == 0 else kernels.reference.norm_all([together], p, {})
    else:
        norm = norms[0]
    if finite and not math.isfinite(norm):
        raise ArgumentError(
            tr("The total norm of order {} for gradients from `parameters` is non-finite ({}), so it cannot be clipped.", p, norm),
            "find what made it with badak.autograd.detect_anomaly(), or set error_if_nonfinite=False",
        )
    return norm


def _shrink(parameters: list[Tensor], most: float, norm: Any, memo: dict[str, Any]) -> None:
    for arrays in _by_dtype(_gradients(parameters)):
        kernels.of(arrays[0]).shrink_all(arrays, norm.astype(arrays[0].real.dtype, copy=False), most, memo)
    _changed(parameters, "clip_grad_norm_")


def _tensors(parameters: Any, owner: str) -> list[Tensor]:
    """A list of tensors, of one or many."""
    listed = [parameters] if isinstance(parameters, Tensor) else parameters
    if not isinstance(listed, Iterable):
        raise ArgumentTypeError(tr("{}: expected tensors; got {}", owner, _kind(parameters)), "pass model.parameters()")
    listed = list(listed)
    for p in listed:
        if not isinstance(p, Tensor):
            raise ArgumentTypeError(tr("{}: expected tensors; one of them is {}", owner, _kind(p)), "pass model.parameters()")
    return listed


def _number(value: Any, name: str) -> float:
    """A limit or an order as a Python number."""
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, str) and name.endswith("norm_type"):  # "inf", as PyTorch's float() takes it
        with suppress(ValueError):
            value = float(value)
    if not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(tr("{} should be a number; got {}", name, _kind(value)), "a number, such as 1.0")
    return float(value)


def _kind(value: Any) -> str:
    return tr("a tensor of shape {}", tuple(value.shape)) if isinstance(value, Tensor) else f"a {type(value).__name__}"


def _gradients(parameters: list[Tensor]) -> list[Any]:
    return [p._grad._array for p in parameters if p._grad is not None]


def _by_dtype(arrays: list[Any]) -> list[list[Any]]:
    """The arrays, those of one dtype together."""
    kinds = dict.fromkeys(array.dtype.char for array in arrays)
    return [arrays] if len(kinds) == 1 else [[x for x in arrays if x.dtype.char == kind] for kind in kinds]


def _changed(parameters: list[Tensor], by: str) -> None:
    """Tell that the gradients have other values."""
    for p in parameters:
        if p._grad is not None:
            p._grad._watch().bump(by)
