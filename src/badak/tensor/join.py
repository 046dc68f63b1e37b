"""Joining, repeating, turning, cutting to triangles, padding: the same values in new memory."""

import numpy as np

from badak.errors import ArgumentError, KindError, ShapeError
from badak.ops import rearrange as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.promote import into, result_type
from badak.tensor.shape import atleast_1d, atleast_2d, atleast_3d, diagonal, reshape, sizes, t, transpose
from badak.tensor.tensor import Tensor


def cat(tensors, dim: int = 0, *, axis=None, out=None) -> Tensor:
    """The tensors one after the other along dim; elsewhere their sizes agree.   dx_k = its part of dy.

    Dtypes are promoted; an empty 1-d tensor is skipped, as in PyTorch.
    """
    tensors = _together("cat", tensors)
    shapes = [x._array.shape for x in tensors]
    if (0,) in shapes and any(len(s) > 1 for s in shapes):
        tensors = [x for x, s in zip(tensors, shapes) if s != (0,)]
    shape = tensors[0]._array.shape
    if not shape:
        raise ShapeError(
            "zero-dimensional tensor (at position 0) cannot be concatenated", "badak.stack makes a new dim"
        )
    dim = axis_of(dim if axis is None else axis, len(shape))
    try:
        y = apply(ops.Cat, *tensors, axis=dim)
    except ValueError:
        raise _cannot_join(tensors, dim) from None
    return y if out is None else into(out, y)


concat = concatenate = cat


def _together(name: str, tensors) -> list:
    if isinstance(tensors, Tensor):
        raise KindError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor", f"{name}([a, b])"
        )
    tensors = list(tensors)
    if not tensors:
        raise ArgumentError(f"{name}(): expected a non-empty list of Tensors", None)
    first = tensors[0]._array.dtype
    if any(x._array.dtype != first for x in tensors):
        wanted = result_type(*[x if x._array.ndim else x.reshape(1) for x in tensors])
        tensors = [cast(x, wanted) for x in tensors]
    return tensors


def _cannot_join(tensors, dim: int) -> ShapeError:
    first = tensors[0]._array.shape
    for k, x in enumerate(tensors):
        shape = x._array.shape
        if len(shape) != len(first):
            return ShapeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)} "
                f"(shapes {first} and {shape})",
                "unsqueeze the smaller one",
            )
        for a, (n, m) in enumerate(zip(first, shape)):
            if n != m and a != dim:
                return ShapeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor "
                    f"number {k} in the list.",
                    f"its shape is {shape}, the first one's {first}: they differ in dimension {a}",
                )
    return ShapeError(f"cat: these shapes do not join along dimension {dim}: {[x._array.shape for x in tensors]}", None)


def stack(tensors, dim: int = 0, *, axis=None, out=None) -> Tensor:
    """The tensors, of one shape, along a new dim.   dx_k = dy[k]."""
    tensors = _together("stack", tensors)
    shape = tensors[0]._array.shape
    for k, x in enumerate(tensors):
        if x._array.shape != shape:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(x._array.shape)} at entry {k}",
                "pad them to one length (nn.utils.rnn.pad_sequence), or cat them",
            )
    y = apply(ops.Stack, *tensors, axis=axis_of(dim if axis is None else axis, len(shape) + 1))
    return y if out is None else into(out, y)


def _lifted(lift, tensors):
    made = lift(*_together("stack", tensors))
    return [made] if isinstance(made, Tensor) else list(made)


def hstack(tensors) -> Tensor:
    """cat along dim 1, of vectors along dim 0."""
    tensors = _lifted(atleast_1d, tensors)
    return cat(tensors, 0 if tensors[0]._array.ndim == 1 else 1)


def vstack(tensors) -> Tensor:
    """cat along dim 0, a vector being a row."""
    return cat(_lifted(atleast_2d, tensors), 0)


row_stack = vstack


def dstack(tensors) -> Tensor:
    """cat along dim 2."""
    return cat(_lifted(atleast_3d, tensors), 2)


def column_stack(tensors) -> Tensor:
    """cat along dim 1, a vector being a column."""
    return cat([x.reshape(-1, 1) if x._array.ndim < 2 else x for x in tensors], 1)


def flip(input, *dims) -> Tensor:
    """The order along these dims reversed, as a copy."""
    axes = tuple(axis_of(d, input._array.ndim) for d in sizes(dims))
    return apply(ops.Flip, input, axes=axes)


def fliplr(input) -> Tensor:
    """Columns in reverse order."""
    return flip(input, 1)


def flipud(input) -> Tensor:
    """Rows in reverse order."""
    return flip(input, 0)


def roll(input, shifts, dims=None) -> Tensor:
    """Entries moved by `shifts` along `dims`, around the end; without dims as if flat."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if dims is None or dims == ():
        return reshape(apply(ops.Roll, reshape(input, -1), shifts=shifts, axes=(0,)), input._array.shape)
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(dims) != len(shifts):
        raise ArgumentError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}", None)
    return apply(ops.Roll, input, shifts=shifts, axes=tuple(axis_of(d, input._array.ndim) for d in dims))


def repeat(input, *repeats) -> Tensor:
    """Copies laid side by side, repeats[a] times along each dim; more numbers than dims make new dims in front."""
    if not repeats:
        raise KindError('repeat() missing 1 required positional arguments: "repeats"', None)
    times = sizes(repeats)
    if len(times) < input._array.ndim:
        raise ShapeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor; got "
            f"{list(times)} for a tensor of shape {input._array.shape}",
            "give a number for every dim, 1 for those that stay",
        )
    return apply(ops.Repeat, input, times=times)


def tile(input, *dims) -> Tensor:
    """repeat, with 1 for leading dims that are left out."""
    times = sizes(dims)
    return repeat(input, (1,) * (input._array.ndim - len(times)) + times)


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None) -> Tensor:
    """Each entry along dim several times in a row: `repeats` a number, or one for each entry. Without dim as if flat."""
    if repeats is None:  # how often each index occurs: 2, 0, 1 -> 0, 0, 2
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
            raise ShapeError(
                f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.size} and "
                f"input.size({dim}) = {input._array.shape[dim]}",
                None,
            )
    return apply(ops.RepeatInterleave, input, times=repeats, axis=dim)


def tril(input, diagonal: int = 0, *, out=None) -> Tensor:
    """The part on and below a diagonal of the last two dims, 0 elsewhere (diagonal 1 is the one above the main one)."""
    y = apply(ops.Tril, _matrix("tril", input), k=diagonal)
    return y if out is None else into(out, y)


def triu(input, diagonal: int = 0, *, out=None) -> Tensor:
    """The part on and above a diagonal of the last two dims, 0 elsewhere (diagonal 1 is the one above the main one)."""
    y = apply(ops.Triu, _matrix("triu", input), k=diagonal)
    return y if out is None else into(out, y)


def _matrix(name: str, x: Tensor) -> Tensor:
    if x._array.ndim < 2:
        raise ShapeError(f"{name}: input tensor must have at least 2 dimensions; got shape {x._array.shape}", "x[None]")
    return x


def diag(input, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or a matrix's diagonal as a vector (a copy)."""
    if input._array.ndim == 1:
        return diag_embed(input, diagonal)
    return _diagonal_of(_matrix("diag", input), diagonal)


def _diagonal_of(input, offset: int) -> Tensor:
    return diagonal(input, offset).clone()


def diag_embed(input, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of dims dim1 and dim2 that hold the last dim of input on a diagonal, 0 elsewhere."""
    ndim = input._array.ndim + 1
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    n, k = input._array.shape[-1], abs(offset)
    spread = input.unsqueeze(-1) * Tensor._of(np.eye(n, dtype=input._array.dtype))  # (..., n, n)
    above, left = (0, k) if offset >= 0 else (k, 0)
    pads = ((0, 0),) * (ndim - 2) + ((above, k - above), (left, k - left))
    made = apply(ops.Pad, spread, pads=pads, value=0) if k else spread
    return made.movedim((-2, -1), (a, b))


diagflat = diag_embed


def adjoint(input) -> Tensor:
    """The last two dims exchanged, conjugated if complex."""
    return transpose(input.conj(), -2, -1)


H = property(lambda x: t(x.conj()), doc="A matrix transposed and conjugated.")


def pad(input, pad, mode: str = "constant", value=None) -> Tensor:
    """x with entries around it: pad = (before, after) of the last dim, then of the one before it, and so on.

    mode "constant" adds `value` (0), and a negative number cuts off; "reflect" mirrors without repeating the edge,
    "replicate" repeats the edge, "circular" wraps around: these three need every size given to fit.
    dx = dy inside, plus what the entries that are used twice collect.
    """
    pad, shape = [int(p) for p in pad], input._array.shape
    if len(pad) % 2 or len(pad) // 2 > len(shape):
        raise ShapeError(
            f"pad: expected two numbers for each of at most {len(shape)} dims, from the last one on; got {pad}",
            "(left, right)",
        )
    pairs = [(0, 0)] * (len(shape) - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    if mode == "constant":
        _not_below_zero(shape, pairs)
        return apply(ops.Pad, input, pads=tuple(pairs), value=0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise ArgumentError(f"pad: expected mode constant, reflect, replicate or circular; got {mode!r}", None)
    takes = [(a, _rows(n, p[0], p[1], mode)) for a, (n, p) in enumerate(zip(shape, pairs)) if p != (0, 0)]
    return apply(ops.PadBy, input, takes=tuple(takes)) if takes else input.clone()


def _not_below_zero(shape, pairs) -> None:
    for a, (n, (before, after)) in enumerate(zip(shape, pairs)):
        if n + before + after < 0:
            raise ShapeError(
                f"pad: the input size {n}, plus negative padding {before} and {after}, resulted in a negative output size "
                f"at dimension {a}",
                None,
            )


def _rows(n: int, before: int, after: int, mode: str):
    """Which of the n entries stands at each place of the padded dim."""
    most = {"reflect": n - 1, "circular": n, "replicate": max(before, after) if n else 0}[mode]
    if max(before, after) > most:
        raise ShapeError(
            f"pad: padding ({before}, {after}) is too large for a dim of size {n} in mode {mode}: at most {most}",
            "mode='constant'",
        )
    at = np.arange(-before, n + after)
    if mode == "circular":
        return at % n
    if mode == "replicate":
        return at.clip(0, n - 1)
    return n - 1 - np.abs(n - 1 - np.abs(at))
