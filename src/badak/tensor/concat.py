"""Several tensors become one: cat and stack, and their relatives."""

from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.ops import concat as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.promote import into, result_type
from badak.tensor.shape import atleast_1d, atleast_2d, atleast_3d
from badak.tensor.tensor import Tensor


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: Any = None, out: Tensor | None = None) -> Tensor:
    """The tensors one after the other along dim; elsewhere their sizes agree.   dx_k = its part of dy.

    Dtypes are promoted; an empty 1-d tensor is skipped, as in PyTorch.

    Args:
        tensors: a list or tuple; all sizes but that of dim agree
        dim: the axis that becomes longer
        axis: NumPy's name of dim
        out: where the result is written

    Returns: one tensor

    Raises:
        ShapeError: where other sizes differ

    Example:
        >>> badak.cat([badak.ones(1), badak.zeros(2)]).tolist()
        [1.0, 0.0, 0.0]
    """
    tensors = _together("cat", tensors)
    shapes = [x._array.shape for x in tensors]
    if (0,) in shapes and any(len(s) > 1 for s in shapes):
        tensors = [x for x, s in zip(tensors, shapes) if s != (0,)]
    shape = tensors[0]._array.shape
    if not shape:
        raise ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated", "badak.stack makes a new dim")
    dim = 0 if set(shapes) == {(0,)} else axis_of(dim if axis is None else axis, len(shape))
    try:
        y = apply(ops.Cat, *tensors, axis=dim)
    except ValueError:
        raise _cannot_join(tensors, dim) from None
    return into(out, y)


concat = concatenate = cat


def _together(name: str, tensors) -> list:
    if isinstance(tensors, Tensor):
        cause = tr("{}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor", name)
        raise ArgumentTypeError(cause, tr("{}([a, b])", name))
    tensors = list(tensors)
    if not tensors:
        raise ArgumentError(tr("{}(): expected a non-empty list of Tensors", name), None)
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
                tr("Tensors must have same number of dimensions: got {} and {} (shapes {} and {})", len(first), len(shape), first,
                   shape),
                "unsqueeze the smaller one",
            )  # fmt: skip
        for a, (n, m) in enumerate(zip(first, shape)):
            if n != m and a != dim:
                cause = tr("Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor "
                           "number {} in the list.", dim, n, m, k)  # fmt: skip
                return ShapeError(cause, tr("its shape is {}, the first one's {}: they differ in dimension {}", shape, first, a))
    return ShapeError(tr("cat: these shapes do not join along dimension {}: {}", dim, [x._array.shape for x in tensors]), None)


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: Any = None, out: Tensor | None = None) -> Tensor:
    """The tensors, of one shape, along a new dim.   dx_k = dy[k].

    Args:
        tensors: a list or tuple, of one shape
        dim: the new axis
        axis: NumPy's name of dim
        out: where the result is written

    Returns: one tensor with an axis more

    Raises:
        ShapeError: where shapes differ

    Example:
        >>> tuple(badak.stack([badak.ones(2), badak.zeros(2)], dim=1).shape)
        (2, 2)
    """
    tensors = _together("stack", tensors)
    shape = tensors[0]._array.shape
    for k, x in enumerate(tensors):
        if x._array.shape != shape:
            cause = tr("stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}", list(shape),
                       list(x._array.shape), k)  # fmt: skip
            raise ShapeError(cause, "pad them to one length (nn.utils.rnn.pad_sequence), or cat them")
    return into(out, apply(ops.Stack, *tensors, axis=axis_of(dim if axis is None else axis, len(shape) + 1)))


def _lifted(lift, tensors):
    made = lift(*_together("stack", tensors))
    return [made] if isinstance(made, Tensor) else list(made)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """cat along dim 1, of vectors along dim 0."""
    tensors = _lifted(atleast_1d, tensors)
    return cat(tensors, 0 if tensors[0]._array.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """cat along dim 0, a vector being a row."""
    return cat(_lifted(atleast_2d, tensors), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """cat along dim 2."""
    return cat(_lifted(atleast_3d, tensors), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """cat along dim 1, a vector being a column."""
    tensors = _together("column_stack", tensors)
    return cat([x.reshape(-1, 1) if x._array.ndim < 2 else x for x in tensors], 1)
