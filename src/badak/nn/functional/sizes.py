"""Sizes of windows, one number for each axis."""

from collections.abc import Iterable

from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError
from badak.ops._check import whole
from badak.tensor import Tensor


def sizes(value, axes: int, where: str, name: str) -> tuple[int, ...]:
    """`value` as one int for each of `axes` axes."""
    try:
        given = tuple(map(whole, value)) if is_many(value) else (whole(value),) * axes
    except TypeError:
        raise ArgumentTypeError(f"{where}(): argument '{name}' must be int or a list of ints, not {value!r}", f"{name}=2") from None
    if any(abs(n) >= 2**63 for n in given):
        raise IndexOutOfRangeError(f"{where}(): argument '{name}' must fit into 64 bits", f"{name}=2")
    if len(given) == 1:
        given *= axes
    if len(given) != axes:
        raise ArgumentError(f"{where}: expected {name} to be a single integer value or a list of {axes} values; got {value}", None)
    return given


def is_many(value) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | set | dict) and getattr(value, "ndim", 1) > 0


def with_batch(x: Tensor, axes: int, where: str) -> tuple[Tensor, bool]:
    """x (N, C, *S) with `axes` axes S, and whether it had a batch; (C, *S) gets one."""
    if x.dim() == axes + 2:
        return x, True
    if x.dim() == axes + 1:
        return x.unsqueeze(0), False
    raise ShapeError(
        f"{where}: Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to {where}, "
        f"but got input of size: {list(x.shape)}",
        f"(N, C, {', '.join('LHDW'[:axes] if axes == 1 else 'DHW'[-axes:])})",
    )
