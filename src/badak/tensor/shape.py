"""Other shapes of the same values: views wherever memory allows. Sizes may be given one by one or as one tuple."""

import math
from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.ops import rearrange
from badak.ops import shape as ops
from badak.ops._broadcast import stretched
from badak.ops._check import axis_of
from badak.ops.index import Select
from badak.tensor.apply import apply, see
from badak.tensor.dtypes import Size, int64, no_sizes, to_dtype
from badak.tensor.dtypes import dtype as DType
from badak.tensor.tensor import Tensor


def sizes(given: Any, named: dict | None = None) -> tuple:
    """(2, 3), ((2, 3),) or ([2, 3],) as (2, 3)."""
    if named or not given:
        raise no_sizes(named or {})
    if len(given) == 1 and type(given[0]) is not int:
        one = given[0]
        given = one if isinstance(one, (tuple, list)) else one.tolist() if np.ndim(one) else (one,)
    for n in given:
        if type(n) is not int:
            return tuple(map(as_int, given))
    return tuple(given)


def _reshaped(op, x: Tensor, shape) -> Tensor:
    try:
        y = see(op, x, shape=shape) if op.view else apply(op, x, shape=shape)
    except ValueError:
        raise _invalid(shape, x) from None
    if y._array.shape != shape and min(shape) < -1:  # NumPy takes any negative size for -1
        raise ShapeError(tr("invalid shape dimension {} of shape {}", min(shape), list(shape)), "-1 for the one size that follows")
    return y


def _invalid(shape, x: Tensor) -> ShapeError:
    n = x._array.size
    if not n and -1 in shape and 0 in shape:
        why = tr("because the unspecified dimension size -1 can be any value and is ambiguous")
        return ShapeError(tr("cannot reshape tensor of 0 elements into shape {} {}", list(shape), why), "a size in the place of -1")
    known = int(np.prod([s for s in shape if s >= 0], dtype=np.int64))
    fix = tr("the sizes must multiply to {}, those given multiply to {}; the tensor has shape {}", n, known, x._array.shape)
    return ShapeError(tr("shape '{}' is invalid for input of size {}", list(shape), n), fix)


def view(input: Tensor, *shape: Any, dtype: DType | None = None) -> Tensor:
    """The same memory in another shape, one size of which may be -1; raises where memory does not allow it.

    view(dtype) reads the same bytes as another dtype (without gradient).   dx = dy in x's shape.

    Args:
        *shape: the sizes, or one tuple; one may be -1
        dtype: the dtype that the bytes are read as

    Returns: a view

    Raises:
        ShapeError: where the memory does not allow it

    Example:
        >>> tuple(badak.arange(6).view(2, -1).shape)
        (2, 3)
    """
    if dtype is not None or (len(shape) == 1 and isinstance(shape[0], DType | type)):
        return Tensor._of(_read_as(input, to_dtype(shape[0] if dtype is None else dtype)))
    if _is_view(input, shape := sizes(shape)):
        return _reshaped(ops.View, input, shape)
    raise ShapeError(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.",
        "x.reshape(...), or x.contiguous().view(...)",
    )


def _read_as(x: Tensor, kind: DType) -> np.ndarray:
    """The bytes of x as another dtype, where sizes and steps are integers of it."""
    array, n = x._array, kind.itemsize // x._array.itemsize
    if kind.itemsize != array.itemsize:
        what = tr("to view {} as {} (different element sizes)", x.dtype.word, kind.word)
        if not array.ndim:
            raise ShapeError(tr("self.dim() cannot be 0 {}", what), "x.reshape(1)")
        *steps, last = x.stride()
        if last != 1:
            raise ShapeError(tr("self.stride(-1) must be 1 {}, but got {}", what, last), "x.contiguous()")
        found = {"size(-1)": array.shape[-1], "storage_offset()": x.storage_offset()}
        for name, count in (found | {f"stride({dim})": step for dim, step in enumerate(steps)}).items():
            if n > 1 and count % n:
                cause = tr("self.{} must be divisible by {} {}, but got {}", name, n, what, count)
                raise ShapeError(cause, "x.contiguous(), padded to that")
    return array.view(kind.numpy)


def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """Another shape, one size of which may be -1: a view where memory allows it, else a copy.   dx = dy in x's shape.

    Args:
        *shape: the sizes, or one tuple; one may be -1

    Returns: tensor of that shape

    Raises:
        ShapeError: for another number of values

    Example:
        >>> tuple(badak.arange(6).reshape(3, 2).shape)
        (3, 2)
    """
    shape = sizes(shape or (named.pop("shape"),), named)
    return _reshaped(ops.View if _is_view(input, shape) else rearrange.Reshape, input, shape)


def _is_view(x: Tensor, shape) -> bool:
    """Whether x's memory can be seen in that shape; raises where x has another number of values."""
    array = x._array
    if array.flags.c_contiguous:
        return True
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        known = math.prod(shape)
        if (known < 0 and array.size % known) or (known >= 0 and known != array.size):
            raise _invalid(shape, x) from None
        return False
    return True


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """view(other.shape)."""
    return view(input, other._array.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """reshape(other.shape)."""
    return reshape(input, other._array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dims start_dim..end_dim as one.

    Args:
        start_dim, end_dim: first and last axis

    Returns: a view where memory allows it

    Example:
        >>> tuple(badak.ones(2, 3, 4).flatten(1).shape)
        (2, 12)
    """
    shape = input._array.shape
    if not shape:
        return see(ops.View, input, shape=(1,))
    start, end = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if start > end:
        raise IndexOutOfRangeError("flatten() has invalid args: start_dim cannot come after end_dim", tr("x has shape {}", shape))
    if start == end:
        return input
    n = 1
    for size in shape[start : end + 1]:
        n *= size
    return reshape(input, (*shape[:start], n, *shape[end + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All values in one dim, one next to the other."""
    return reshape(input, -1).contiguous()


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dim as several, one size of which may be -1."""
    shape = input._array.shape
    dim = axis_of(dim, len(shape))
    sizes = tuple(sizes)
    if -1 in sizes:
        rest = -math.prod(sizes) or 1
        sizes = tuple(shape[dim] // rest if s == -1 else s for s in sizes)
    if math.prod(sizes) != shape[dim]:
        cause = tr("unflatten: Provided sizes {} don't multiply up to the size of dim {} ({}) in the input tensor", list(sizes),
                   dim, shape[dim])  # fmt: skip
        raise ShapeError(cause, "one size may be -1")
    return reshape(input, (*shape[:dim], *sizes, *shape[dim + 1 :]))


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """The dims dim0 and dim1 exchanged; a view.

    Args:
        dim0, dim1: the two axes

    Returns: a view

    Example:
        >>> tuple(badak.ones(2, 3).transpose(0, 1).shape)
        (3, 2)
    """
    ndim = input._array.ndim
    a = dim0 if 0 <= dim0 < ndim else axis_of(dim0, ndim)
    b = dim1 if 0 <= dim1 < ndim else axis_of(dim1, ndim)
    return see(ops.Transpose, input, a=a, b=b) if ndim else input


swapaxes = swapdims = transpose


def t(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged; a vector as it is."""
    ndim = input._array.ndim
    if ndim > 2:
        raise ShapeError(tr("t() expects a tensor with <= 2 dimensions, but self is {}D", ndim), "x.transpose(-2, -1), or x.mT")
    return see(ops.Transpose, input, a=0, b=1) if ndim == 2 else input


def permute(input: Tensor, *order: Any, dims: Sequence[int] | None = None) -> Tensor:
    """The dims in another order: y's dim i is x's dim dims[i]; a view.

    Args:
        *order: the axes in their new order
        dims: the same, by name

    Returns: a view

    Example:
        >>> tuple(badak.ones(2, 3, 4).permute(2, 0, 1).shape)
        (4, 2, 3)
    """
    ndim = input._array.ndim
    axes = tuple(d if 0 <= d < ndim else axis_of(d, ndim) for d in sizes(order or (dims,)))
    if len(axes) != ndim:
        cause = tr("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
                   "ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}", ndim, len(axes))  # fmt: skip
        raise ShapeError(cause, "name every dim once")
    if len(set(axes)) != ndim:
        raise ArgumentError("permute(): duplicate dims are not allowed.", "name every dim once")
    return see(ops.Permute, input, axes=axes)


def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """The dims `source` moved to the places `destination`, the others in their order; a view."""
    ndim = input._array.ndim
    source, destination = ([d] if isinstance(d, int) else list(d) for d in (source, destination))
    if len(source) != len(destination):
        cause = tr("movedim: Invalid source or destination dims: source ({} dims) should contain the same number of dims as "
                   "destination ({} dims)", source, destination)  # fmt: skip
        raise ArgumentError(cause, "x.movedim((0, 1), (1, 2))")
    source, destination = ([axis_of(d, ndim) for d in ds] for ds in (source, destination))
    for name, dims in (("source", source), ("destination", destination)):
        if len({*dims}) != len(dims):
            raise ArgumentError(tr("movedim: repeated dim in `{}` ({})", name, dims), "each dim once")
    order = [d for d in range(ndim) if d not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return permute(input, order)


moveaxis = movedim


def matrices(input: Tensor, name: str) -> Tensor:
    """The last two dims exchanged, for an attribute of this name; a single number as it is."""
    ndim = input._array.ndim
    if ndim == 1:
        cause = tr("tensor.{} is only supported on matrices or batches of matrices. Got 1-D tensor.", name)
        raise ShapeError(cause, "x.unsqueeze(-1) is a column, x.unsqueeze(0) a row")
    return transpose(input, -2, -1) if ndim else permute(input, ())


def _reversed(input) -> Tensor:
    return permute(input, tuple(range(input._array.ndim - 1, -1, -1)))


T = property(_reversed, doc="All dims in reverse order; a view.")
mT = property(lambda x: matrices(x, "mT"), doc="The last two dims exchanged; a view.")


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new dim of size 1 before dim `dim`; a view.

    Args:
        dim: where the new axis stands

    Returns: a view

    Example:
        >>> tuple(badak.ones(3).unsqueeze(0).shape)
        (1, 3)
    """
    shape = input._array.shape
    at = dim if 0 <= dim <= len(shape) else axis_of(dim, len(shape) + 1)
    return see(ops.View, input, shape=(*shape[:at], 1, *shape[at:]))


def squeeze(input: Tensor, *dims: int | Sequence[int], dim: int | Sequence[int] | None = None) -> Tensor:
    """Without the dims of size 1: all of them, or those of `dim` that are; a view.

    Args:
        *dims: axes; all of size 1 by default
        dim: the same, by name

    Returns: a view

    Example:
        >>> tuple(badak.ones(1, 3, 1).squeeze().shape)
        (3,)
    """
    shape = input._array.shape
    axes: Any = dim if not dims else dims[0] if len(dims) == 1 else dims
    if axes is None:
        kept = tuple(n for n in shape if n != 1)
    else:
        gone = {axis_of(d, len(shape)) for d in ((axes,) if isinstance(axes, int) else axes)}
        kept = tuple(n for a, n in enumerate(shape) if n != 1 or a not in gone)
    return see(ops.View, input, shape=kept)


def expand(input: Tensor, *size: Any, implicit: bool = False) -> Tensor:
    """Dims of size 1 seen as larger, new dims in front; -1 keeps a size. A view that cannot be written to.

    dx = dy summed over the new dims and the stretched ones.

    Args:
        *size: the new sizes; -1 keeps one

    Returns: a view

    Raises:
        ShapeError: for an axis that is neither 1 nor of that size

    Example:
        >>> badak.tensor([[1], [2]]).expand(2, 3).tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    size, shape = sizes(size), input._array.shape
    extra = len(size) - len(shape)
    if extra < 0:
        raise ShapeError(
            tr("expand: the number of sizes provided ({}) must be greater or equal to the number of dimensions in the tensor ({})",
               len(size), len(shape)),
            tr("the tensor has shape {}", shape),
        )  # fmt: skip
    target = []
    for i, n in enumerate(size):
        old = shape[i - extra] if i >= extra else 1
        if n == -1 and i >= extra:
            n = old
        elif n != old and old != 1:
            cause = tr("The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension "
                       "{}.  Target sizes: {}.  Tensor sizes: {}", n, old, i, list(size), list(shape))  # fmt: skip
            raise ShapeError(cause, "only dims of size 1 can be expanded; repeat() copies")
        if n < 0:
            raise ShapeError(tr("expand: a new dimension needs a size; got {} for a tensor of {}", list(size), shape), None)
        target.append(n)
    return see(ops.Expand, input, shape=tuple(target))


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """expand(other.shape)."""
    return expand(input, other._array.shape)


def broadcast_to(input: Tensor, *shape: Any, size: Sequence[int] | None = None) -> Tensor:
    """expand(size)."""
    return expand(input, *(shape or (size,)))


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have together."""
    try:
        return Size(np.broadcast_shapes(*shapes))
    except ValueError:
        return Size(stretched(*shapes))  # whose refusal says where they clash


def broadcast_tensors(*tensors: Any) -> tuple:
    """The tensors, each expanded to their common shape."""
    tensors = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    shape = broadcast_shapes(*[x._array.shape for x in tensors])
    return tuple(expand(x, shape) for x in tensors)


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple:
    """Pieces of a size (the last may be smaller), or of the sizes listed, along dim; views.

    Args:
        split_size_or_sections: a size, or a list of sizes
        dim: the axis

    Returns: tuple of views

    Example:
        >>> [len(part) for part in badak.arange(5).split([1, 4])]
        [1, 4]
    """
    shape = tensor._array.shape
    dim = axis_of(dim, len(shape))
    n, wanted = shape[dim], split_size_or_sections
    if type(wanted) is int and wanted > 0 and n and n % wanted == 0:
        parts = [wanted] * (n // wanted)
    elif isinstance(wanted, int):
        if wanted < 0 or (wanted == 0 and n):
            raise ArgumentError(tr("split_size can only be 0 if dimension size is 0, but got dimension size of {}", n), None)
        count = max(1, -(-n // wanted)) if wanted else 1
        parts = [min(wanted, n - k * wanted) for k in range(count)]
    else:
        parts = [as_int(s) for s in wanted]
        if min(parts, default=0) < 0:
            cause = tr("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}", parts)
            raise ArgumentError(cause, tr("sizes that sum to {}", n))
        if sum(parts) != n:
            cause = tr("split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but "
                       "got split_sizes={}", n, dim, parts)  # fmt: skip
            raise ShapeError(cause, tr("the sizes given sum to {}", sum(parts)))
    return apply(ops.Split, tensor, sizes=tuple(parts), axis=dim)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple:
    """Pieces of these sizes along dim; views."""
    return split(input, list(split_sizes), dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """At most `chunks` equal pieces along dim, the last perhaps smaller; views.

    Args:
        chunks: at most so many
        dim: the axis

    Returns: tuple of views

    Example:
        >>> [len(part) for part in badak.arange(5).chunk(2)]
        [3, 2]
    """
    if chunks <= 0:
        raise ArgumentError(tr("chunk expects `chunks` to be greater than 0, got: {}", chunks), None)
    n = input._array.shape[axis_of(dim, input._array.ndim)]
    return split(input, -(-n // chunks) if n else [0] * chunks, dim)


def tensor_split(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """`sections` pieces of sizes that differ by at most one, or pieces that end at these indices; views."""
    if not input._array.ndim:
        cause = tr("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
        raise ShapeError(cause, "x.reshape(1), which is one piece")
    dim = axis_of(dim, input._array.ndim)
    n = input._array.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = _split_at(indices_or_sections)
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            cause = tr("number of sections must be larger than 0, got {}", indices_or_sections)
            raise ArgumentError(cause, "tensor_split(x, 1) is x in one piece")
        small, larger = divmod(n, indices_or_sections)
        ends = [k * small + min(k, larger) for k in range(1, indices_or_sections)]
    else:
        ends = [min(max(as_int(i) + (n if as_int(i) < 0 else 0), 0), n) for i in indices_or_sections]
    before = (slice(None),) * dim
    return tuple(see(Select, input, key=(*before, slice(a, max(a, b)))) for a, b in zip([0, *ends], [*ends, n]))


def _split_at(where: Tensor) -> Any:
    """What a tensor says of the pieces: their number, or where they end."""
    if where.dtype is not int64:
        cause = tr("tensor_split expected tensor_indices_or_sections to have dtype of long, but got {}", where.dtype.word)
        raise DTypeError(cause, "x.long()")
    if where._array.ndim > 1:
        cause = tr("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a "
                   "tensor with {} dims", where._array.ndim)  # fmt: skip
        raise ShapeError(cause, None)
    return where.tolist()


def unbind(input: Tensor, dim: int = 0) -> tuple:
    """All slices along dim, as a tuple of views."""
    if not input._array.ndim:
        raise IndexOutOfRangeError("Dimension specified as 0 but tensor has no dimensions", "x.item() gives its value")
    dim = axis_of(dim, input._array.ndim)
    return apply(ops.Unbind, input, axis=dim) if input._array.shape[dim] else ()


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of the matrix of dims dim1 and dim2, as the last dim; a view."""
    ndim = input._array.ndim
    a, b = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if a == b:
        raise ArgumentError(tr("diagonal dimensions cannot be identical {}, {}", dim1, dim2), None)
    return see(ops.Diagonal, input, offset=offset, a=a, b=b)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` along a dim, `step` apart, in a new last dim; a view that cannot be written to."""
    axis = axis_of(dimension, input._array.ndim)
    if size < 0 or step <= 0:
        raise ArgumentError(tr("unfold: size is {} but must be >= 0; step is {} but must be > 0", size, step), "unfold(0, 2, 1)")
    if not input._array.ndim:
        return unfold(input.reshape(1), 0, size, step)[0][:size] if size else input.reshape(1)[:0]
    n = input._array.shape[axis]
    if size > n:
        raise IndexOutOfRangeError(tr("maximum size for tensor at dimension {} is {} but size is {}", axis, n, size), None)
    return apply(ops.Unfold, input, axis=axis, size=size, step=step)


def _atleast(ndim: int):
    def at_least(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
            tensors = tuple(tensors[0])
        made = tuple(_lift(x, ndim) for x in tensors)
        return made[0] if len(made) == 1 else made

    return named(at_least, f"atleast_{ndim}d", f"The tensors with at least {ndim} dims.")


def _lift(x: Tensor, ndim: int) -> Tensor:
    shape = x._array.shape
    if ndim == 3 and len(shape) in (1, 2):
        shape = (1, *shape, 1)[-3:] if len(shape) == 1 else (*shape, 1)
    return view(x, (1,) * (ndim - len(shape)) + tuple(shape))


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)
