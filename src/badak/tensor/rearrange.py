"""The same values in other places of new memory: turned, moved around the end, repeated."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.ops import rearrange as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.convert import as_images
from badak.tensor.once_more import keep
from badak.tensor.shape import reshape, sizes
from badak.tensor.tensor import Tensor


def flip(input: Tensor, *axes: Any, dims: Sequence[int] | None = None) -> Tensor:
    """The order along these dims reversed, as a copy."""
    ndim = input._array.ndim
    axes = tuple(axis_of(d, ndim) for d in sizes(axes or (dims,)))
    if len(set(axes)) < len(axes):
        raise ArgumentError(tr("flip: a dim appears multiple times in the list of dims; got {}", axes), "each dim once")
    return apply(ops.Flip, input, axes=axes if ndim else ())


def fliplr(input: Tensor) -> Tensor:
    """Columns in reverse order."""
    if input._array.ndim < 2:
        raise ShapeError(tr("Input must be >= 2-d. Got {}-d", input._array.ndim), "x.flip(-1)")
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Rows in reverse order."""
    if not input._array.ndim:
        raise ShapeError("Input must be >= 1-d. Got 0-d", "x.reshape(1)")
    return flip(input, 0)


def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Entries moved by `shifts` along `dims`, around the end; without dims as if flat."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if not shifts:
        raise ArgumentError("roll: `shifts` required", "x.roll(1), or x.roll((1, 2), (0, 1))")
    dims = () if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if not dims and len(shifts) == 1:
        return reshape(apply(ops.Roll, reshape(input, -1), shifts=shifts, axes=(0,)), input._array.shape)
    if len(dims) != len(shifts):
        raise ArgumentError(tr("shifts and dimensions must align. shifts: {}, dims:{}", len(shifts), len(dims)), None)
    return as_images(apply(ops.Roll, input, shifts=shifts, axes=tuple(axis_of(d, input._array.ndim) for d in dims)), input)


def repeat(input: Tensor, *times: Any, repeats: Sequence[int] | None = None) -> Tensor:
    """Copies laid side by side, repeats[a] times along each dim; more numbers than dims make new dims in front."""
    if not times and repeats is None:
        raise ArgumentTypeError('repeat() missing 1 required positional arguments: "repeats"', None)
    times = sizes(times or (repeats,))
    if len(times) < input._array.ndim:
        cause = tr("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor; got "
                   "{} for a tensor of shape {}", list(times), input._array.shape)  # fmt: skip
        raise ShapeError(cause, "give a number for every dim, 1 for those that stay")
    return apply(ops.Repeat, input, times=times)


def tile(input: Tensor, *times: Any, dims: Sequence[int] | None = None) -> Tensor:
    """repeat, with 1 for leading dims that are left out."""
    times = sizes(times or (dims,))
    return repeat(input, (1,) * (input._array.ndim - len(times)) + times)


def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each entry along dim several times in a row: `repeats` a number, or one for each entry. Without dim as if flat."""
    times = input if repeats is None else repeats
    if not isinstance(times, Tensor | int):
        cause = tr("repeat_interleave: repeats has to be a number or a vector of integers; got {}", type(times).__name__)
        raise ArgumentTypeError(cause, "repeats=2")
    if isinstance(times, Tensor):
        if times._array.dtype.kind not in "iu" or times._array.ndim > 1:
            cause = tr("repeat_interleave: repeats has to be a vector of integers; got {} of shape {}", times.dtype,
                       tuple(times.shape))  # fmt: skip
            raise ArgumentError(cause, "repeats.long()")
    if np.min(times._array if isinstance(times, Tensor) else times, initial=0) < 0:
        raise ArgumentError("repeats can not be negative", "repeats of 0 and more")
    if repeats is None:  # how often each index occurs: 2, 0, 1 -> 0, 0, 2
        events.read(tr("repeat_interleave, for the size of its result"))
        return Tensor._of(np.repeat(np.arange(input._array.size), input._array))
    if dim is None:
        input, dim = reshape(input, -1), 0
    dim = axis_of(dim, input._array.ndim)
    if isinstance(repeats, Tensor):
        repeats = int(repeats) if repeats._array.size == 1 else repeats._array
    if not isinstance(repeats, int):
        repeats = np.asarray(repeats)
        if repeats.size == 1:
            repeats = int(repeats.reshape(()))
        elif repeats.shape != input._array.shape[dim : dim + 1]:
            cause = tr("repeats must have the same size as input along dim, but got repeats.size(0) = {} and input.size({}) = {}",
                       repeats.size, dim, input._array.shape[dim])  # fmt: skip
            raise ShapeError(cause, None)
    made = apply(ops.RepeatInterleave, input, times=repeats, axis=dim)
    if output_size not in (None, made._array.shape[dim]):
        cause = tr("repeat_interleave: output_size does not match: {} instead of {}", output_size, made._array.shape[dim])
        raise ShapeError(cause, "output_size=None")
    if isinstance(repeats, int):
        keep((made,), input)
    return made
