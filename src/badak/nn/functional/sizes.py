"""Sizes of windows, one number for each axis."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.ops._check import whole
from badak.tensor import Tensor


def sizes(value: Any, axes: int, where: str, name: str) -> tuple[int, ...]:
    """`value` as one int for each of `axes` axes."""
    try:
        given = tuple(map(whole, value)) if is_many(value) else (whole(value),) * axes
    except TypeError:
        cause = tr("{}(): argument '{}' must be int or a list of ints, not {!r}", where, name, value)
        raise ArgumentTypeError(cause, f"{name}=2") from None
    if any(abs(n) >= 2**63 for n in given):
        raise IndexOutOfRangeError(tr("{}(): argument '{}' must fit into 64 bits", where, name), f"{name}=2")
    if len(given) == 1:
        given *= axes
    if len(given) != axes:
        cause = tr("{}: expected {} to be a single integer value or a list of {} values; got {}", where, name, axes, value)
        raise ArgumentError(cause, None)
    return given


def check_moves(where: str, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> None:
    """Refuse windows that are empty, stand still, or begin inside."""
    if min(kernel) < 1:
        raise ArgumentError(tr("{}: kernel size should be greater than zero, but got {}", where, tuple(kernel)), "kernel_size=1")
    if min(stride) < 1:
        raise ArgumentError(tr("{}: non-positive stride is not supported; got {}", where, stride), "stride=1")
    if min(dilation) < 1:
        raise ArgumentError(tr("{}: dilation should be greater than zero; got {}", where, dilation), "dilation=1")
    if min(padding) < 0:
        raise ArgumentError(tr("{}: negative padding is not supported; got {}", where, padding), "padding=0")


def is_many(value: Tensor | float) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | set | dict) and getattr(value, "ndim", 1) > 0


def with_batch(x: Tensor, axes: int, where: str) -> tuple[Tensor, bool]:
    """x (N, C, *S) with `axes` axes S, and whether it had a batch; (C, *S) gets one."""
    if x.dim() == axes + 2:
        return x, True
    if x.dim() == axes + 1:
        return x.unsqueeze(0), False
    cause = tr("{}: Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}", where, axes + 1, axes + 2,
               where, list(x.shape))  # fmt: skip
    raise ShapeError(cause, f"(N, C, {', '.join('LHDW'[:axes] if axes == 1 else 'DHW'[-axes:])})")


def over_axes(make: Callable[[int, str], Callable], name: str, doc: str, end: str = "", least: int = 1) -> list[Callable]:
    """The functions name1d, name2d and name3d (from `least` axes on): what make(axes, "name1d") gives, with this docstring.

    Each name ends in `end`. In doc, {name} is the name, {axes} the number of axes, {L} are their sizes, {K} those of windows,
    {O} those of results.
    """
    made = []
    for axes, L in list(enumerate(("L", "H, W", "D, H, W"), start=1))[least - 1 :]:
        K, O = ("K", "O") if axes == 1 else (", ".join(f"{letter}{i + 1}" for i in range(axes)) for letter in "KO")
        where = f"{name}{axes}d{end}"
        made.append(named(make(axes, where), where, doc.format(name=where, axes=axes, L=L, K=K, O=O)))
    return made
