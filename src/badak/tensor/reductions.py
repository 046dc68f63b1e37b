"""The public functions of the reductions: each follows from its row in `ops/reduce.py`.

    dim       an int, a tuple of ints, or None for all; negative ones count from the end. `axis` is another word for it
    keepdim   leave the reduced dims in the shape with size 1
    dtype     compute in this dtype

What a function takes stands in its row as `takes`; the stub next to this file, which editors read, is written by tools/stubs.py.
"""

from collections.abc import Callable, Sequence
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, tr
from badak.core.public_api.door import door_to
from badak.core.public_api.taken import named
from badak.ops._check import axis_of, in_order, keepdim_error
from badak.ops.op import Op
from badak.ops.reduce import REDUCTIONS, Reduction
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor

Function = Callable[..., Tensor]


def axes_of(dim: Any, ndim: int) -> Any:
    """None for all axes, else the tuple of axes counted from 0."""
    if dim is None:
        return None
    if type(dim) is int:
        return (dim if 0 <= dim < ndim else axis_of(dim, ndim),) if ndim else (axis_of(dim, 0),)[:0]
    axes = tuple(axis_of(d.__index__(), ndim) for d in (dim if hasattr(dim, "__iter__") else (dim,)))
    if len(set(axes)) != len(axes):
        raise ArgumentError(tr("dim {} appears multiple times in the list of dims {}", axes[0], tuple(dim)), "each dim once")
    return axes if ndim and axes else None if not axes else ()


def reduced(op: type[Op], input: Tensor, dim: Any, keepdim: bool, axis: Any, out: Tensor | None, **attributes: Any) -> Tensor:
    """The operation over these dims."""
    if axis is not None:
        dim = axis
    if type(keepdim) is not bool:
        raise keepdim_error(keepdim)
    axes = axes_of(dim, input._array.ndim)
    y = apply(op, input, axis=axes, keepdims=keepdim, **attributes)
    return y if out is None else into(out, y)


def counting(input: Tensor, dtype: DType | None) -> Tensor:
    """input in dtype; without one, integers and booleans as int64, so that their sums do not overflow."""
    if dtype is not None:
        return cast(input, dtypes.to_dtype(dtype))
    return cast(input, dtypes.int64) if input._array.dtype.kind in "iub" else input


def not_empty(name: str, input: Tensor, dim: Any) -> None:
    """Raise where there is no value that could be the largest."""
    array = input._array
    if array.size:
        return
    if dim is None:
        cause = tr("{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                   "the 'dim' argument.", name)  # fmt: skip
        raise IndexOutOfRangeError(cause, tr("the tensor of shape {} has no values: an empty batch?", array.shape))
    for a in axes_of(dim, array.ndim) or ():
        if array.shape[a] == 0:
            raise IndexOutOfRangeError(tr("{}(): Expected reduction dim {} to have non-zero size.", name, a), None)


def _summands(name: str, op: type[Reduction]) -> Function:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
        axis: int | Sequence[int] | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        dtype = dtypes.agreed(dtype, out)
        y = reduced(op, counting(input, dtype), dim, keepdim, axis, None)
        if dtype is not None:  # NumPy counts booleans and short integers in longer ones
            y = cast(y, dtypes.to_dtype(dtype))
        return y if out is None else into(out, y)

    return function


def _floats(name: str, op: type[Reduction]) -> Function:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
        axis: int | Sequence[int] | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        if dtype is not None:
            input = cast(input, dtypes.to_dtype(dtype))
        if input._array.dtype.kind in "iub":
            cause = tr("{}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
                       name, input.dtype.word)  # fmt: skip
            raise DTypeError(cause, tr("x.float().{}(), or dtype=badak.float32", name))
        return reduced(op, input, dim, keepdim, axis, out)

    return function


def _real(name: str, op: type[Reduction]) -> Function:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        axis: int | Sequence[int] | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        in_order(name, input)
        not_empty(name, input, dim)
        return into(out, reduced(op, input, dim, keepdim, axis, None), exact=True)

    return function


_OF_DTYPE = "\n    dtype: that the input is converted to first"
_TAKES = {
    "summands": (_summands, "any shape; integers and booleans give int64", _OF_DTYPE),
    "floats": (_floats, "floats of any shape; of integers, dtype has to be given", _OF_DTYPE),
    "real": (_real, "real numbers of any shape", ""),
}
_SECTIONS = """{says}

Args:
    input: {takes}
    dim: an axis, several, or None for all
    keepdim: keep them with size 1{dtype}
    axis: NumPy's name of dim
    out: where the result is written

Returns: tensor without these axes
"""


def _public(op: type[Reduction]) -> Function:
    """The function of an operation."""
    make, takes, dtype = _TAKES[op.takes]
    doc = _SECTIONS.format(says=op.__doc__, takes=takes, dtype=dtype)
    if op.example:
        doc += "\nExample:\n    >>> {}\n    {}\n".format(*op.example)
    return named(make(op.names[0], op), op.names[0], doc)


FUNCTIONS: dict[str, Function] = {name: _public(op) for op in REDUCTIONS for name in op.names}
__getattr__ = door_to(__name__, FUNCTIONS)
