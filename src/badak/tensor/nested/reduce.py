"""Sums, means and extremes of nested tensors."""

import math
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError, tr
from badak.tensor.nested.layout import PADDED, NestedTensor, dim_of, expect_nested, nested, padded
from badak.tensor.tensor import Tensor

_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "any": False, "all": True}  # what padding changes nothing


def reduced(func: Callable, x: Any, *args: Any, **options: Any) -> Any:
    """The function of all values, of the ragged dim by way of padding, or of other dims of the values."""
    name = func.__name__
    if args and isinstance(args[0], Tensor):
        raise NotSupportedError(tr("{} of two tensors does not know nested ones", name), PADDED)
    expect_nested(name, x)
    given = signature(func).bind(x, *args, **options)
    first = next(iter(given.signature.parameters))
    if name in ("max", "min") and args and "dim" not in given.arguments:
        options, args = {"dim": args[0], **dict(zip(["keepdim"], args[1:])), **options}, ()
    keep = bool(given.arguments.get("keepdim", options.get("keepdim", False)))
    asked = given.arguments.get("dim", options.get("dim"))
    rest = {k: v for k, v in {**given.arguments, **options}.items() if k not in (first, "dim", "keepdim", "args", "kwargs")}
    rest = {k: v for k, v in rest.items() if v is not None}
    if asked is None or (isinstance(asked, tuple | list) and not asked):
        return func(x._entries, **rest)
    dims = {dim_of(name, x, dim) for dim in (asked if isinstance(asked, tuple | list) else (asked,))}
    pick = lambda of: of if isinstance(asked, tuple | list) else of[0]
    if x._ragged not in dims:
        if 0 in dims:
            cause = tr(
                "{}(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors", name
            )
            raise NotSupportedError(cause, PADDED)
        made = func(x._entries, dim=pick(sorted(at - 1 for at in dims)), **_kept(keep), **rest)
        ragged = x._ragged if keep else x._ragged - sum(at < x._ragged for at in dims)
        wrap = lambda values: nested(values, x._offsets, ragged, x._lengths)
        return type(made)(*map(wrap, made)) if hasattr(made, "_fields") else wrap(made)
    if name == "norm":
        raise NotSupportedError("norm(): reducing along the ragged dimension is not supported", PADDED)
    if 0 in dims:
        made = func(x._entries, dim=[at - 1 for at in sorted(dims) if at], **_kept(keep), **rest)
        return made.unsqueeze(0) if keep else made
    y = padded(x, _NEUTRAL[name] if name in _NEUTRAL else _least(x) if name in ("max", "amax") else _most(x))
    if name != "mean":
        return func(y, dim=pick(sorted(dims)), **_kept(keep), **rest)
    total = y.sum(sorted(dims), keepdim=True, **rest)
    counts = x._lengths.lengths * math.prod(x._entries.shape[at - 1] for at in dims if at != x._ragged)
    made = total / Tensor._of(counts.reshape(-1, *(1,) * (x.ndim - 1))).to(total.dtype)
    return made if keep else made.squeeze(tuple(sorted(dims)))


def _kept(keep: bool) -> dict[str, bool]:
    return {"keepdim": True} if keep else {}


def _least(x: NestedTensor) -> Any:
    return -math.inf if x.is_floating_point() else np.iinfo(x.dtype.numpy).min


def _most(x: NestedTensor) -> Any:
    return math.inf if x.is_floating_point() else np.iinfo(x.dtype.numpy).max
