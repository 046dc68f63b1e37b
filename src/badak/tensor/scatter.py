"""Reductions into the places that an index names, and slices of a tensor replaced by others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.memory import offset_of, owner_of, reach
from badak.ops import scatter as ops
from badak.ops._check import axis_of
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.create import full
from badak.tensor.elementwise import where
from badak.tensor.grids import arange
from badak.tensor.index import _as_was, _need_tensor, _placed, _rows, _same_dtype, _slices, index_put, take
from badak.tensor.inplace import write_
from badak.tensor.once_more import keep
from badak.tensor.promote import into
from badak.tensor.reduce import cumsum, diff
from badak.tensor.sort import searchsorted
from badak.tensor.tensor import Tensor


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True, out: Tensor | None = None
) -> Tensor:
    """y[index[i, j, k], j, k] for dim = 0, and so on, is the sum, prod, mean, amax or amin of all src[i, j, k] that go there.

    include_self: the entry of input there counts too. Entries where nothing goes stay.   dsrc, dinput: what each took part with;
    of amax and amin equally among those that are equal.
    """
    if reduce not in ops.UFUNCS:
        cause = tr("scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got {}", reduce)
        raise ArgumentError(cause, None)
    _need_tensor("scatter_reduce", "src", src)
    if reduce == "mean" and input.dtype is dtypes.bool_:
        raise DTypeError(tr("scatter_reduce: the mean of bool is not defined"), "x.float()")
    x, dim, index, src = _placed("scatter_reduce", input, dim, index, src)
    y = apply(ops.ScatterReduce, x, index, src, dim=dim, reduce=reduce, include_self=include_self)
    return into(out, _as_was(y, input), exact=True)


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True, out: Tensor | None = None
) -> Tensor:
    """scatter_reduce of whole slices: slice index[k] along dim is the prod, mean, amax or amin of all source[k] that go there."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ArgumentError(tr("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {}", reduce), None)
    if not input._array.ndim:
        input, source = input.reshape(1), source.reshape(-1)
        return index_reduce(input, 0, index.reshape(-1), source, reduce, include_self=include_self, out=out).reshape(())
    dim, index = _rows("index_reduce", input, dim, index)
    _same_dtype("index_reduce", input, source)
    _slices("index_reduce", input, dim, index, source)
    along = index.reshape([-1 if a == dim else 1 for a in range(input.dim())]).expand(source.shape)
    return into(out, apply(ops.ScatterReduce, input, along, source, dim=dim, reduce=reduce, include_self=include_self), exact=True)


def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: complex | None = None,
) -> Tensor:
    """The sum, mean, max, min or prod of each of the segments into which a dim of data is cut, one after the other.

    Args:
        data: (..., L, ...), floats
        reduce: "sum", "mean", "max", "min" or "prod"; "amax" and "amin" are max and min
        lengths: (..., n), integers: how long each segment is; the dims before are those of data
        indices: PyTorch has it not yet either
        offsets: (..., n + 1) in place of lengths: where each segment begins, and the last ends
        axis: the dim that is cut, the last of lengths
        unsafe: lengths need not add up to L: what is left is in no segment
        initial: takes part in each segment, and is the result of an empty one; without it that is 0, 1, -inf, inf or nan

    Returns: (..., n, ...)   ddata: of a max or min equally among the entries that are equal

    Raises:
        ArgumentError, ArgumentTypeError: for another reduce, other dtypes, lengths that do not fit
        ShapeError: for lengths of other dims

    Example:
        >>> badak.segment_reduce(badak.tensor([1.0, 2.0, 3.0]), "max", lengths=badak.tensor([2, 1])).tolist()
        [2.0, 3.0]
    """
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if reduce not in _EMPTY:
        cause = tr("segment_reduce: reduce argument must be sum, mean, max, min or prod; got {!r}", reduce)
        raise ArgumentError(cause, "reduce='sum'")
    cut = lengths if lengths is not None else offsets
    if indices is not None or cut is None:
        raise ArgumentError("segment_reduce(): Either lengths or offsets must be defined.", "lengths=badak.tensor([2, 1])")
    if not data.is_floating_point():
        raise DTypeError(tr("segment_reduce: expected floats; got {}", data.dtype), "data.float()")
    shape = data._array.shape
    axis, last = axis_of(axis, len(shape)), cut.dim() - 1
    if cut.dtype.kind != "int" or axis != last or cut._array.shape[:-1] != shape[:axis]:
        cause = tr("segment_reduce: expected integers of shape ({}), for data {} and axis {}; got {} of {}",
                   ", ".join(map(str, (*shape[:axis], "n"))), shape, axis, cut.dtype, cut._array.shape)  # fmt: skip
        raise ShapeError(cause, "lengths of one vector and axis=0")
    lengths = cut.long() if lengths is not None else diff(cut.long())
    events.read(tr("segment_reduce: the lengths of segments"))
    if (lengths._array < 0).any():
        raise ArgumentError("segment_reduce: lengths contains negative value!", "lengths of 0 and more")
    if cut is offsets and offsets.numel() and not 0 <= offsets._array.min() <= offsets._array.max() <= shape[axis]:
        cause = tr("segment_reduce: offsets must lie between 0 and {}, the size of data along axis {}", shape[axis], axis)
        raise ArgumentError(cause, None)
    if cut is not offsets and not unsafe and (lengths._array.sum(-1) != shape[axis]).any():
        cause = tr("segment_reduce: lengths must add up to {}, the size of data along axis {}", shape[axis], axis)
        raise ArgumentError(cause, "unsafe=True leaves the rest")
    ends = (cumsum(lengths, -1) if cut is not offsets else cut.long()[..., 1:]).contiguous()
    begin = 0 if cut is not offsets else cut.long()[..., :1]
    count, place = lengths.shape[-1], arange(shape[axis]).expand(shape[: axis + 1])
    number = searchsorted(ends, place.contiguous(), right=True)
    number = where(place < begin, count, number).reshape(*shape[: axis + 1], *(1 for _ in shape[axis + 1 :])).expand(shape)
    start = _EMPTY[reduce] if initial is None or reduce in ("max", "min") else initial
    first = full((*shape[:axis], count + 1, *shape[axis + 1 :]), start, dtype=data.dtype)
    how = {"max": "amax", "min": "amin", "mean": "sum"}.get(reduce, reduce)
    options = {"dim": axis, "reduce": how, "include_self": how in ("sum", "prod"), "equal_nan": True}
    y = apply(ops.ScatterReduce, first, number, data, **options).narrow(axis, 0, count)
    if reduce == "mean":
        many = lengths.reshape(*lengths.shape, *(1 for _ in shape[axis + 1 :])).expand(y.shape)
        return y / (many if initial is None else many.clamp(min=1))
    if reduce in ("max", "min") and initial is not None:
        y = where((y != y) | (y >= initial if reduce == "max" else y <= initial), y, initial)
    return y


_EMPTY = {"sum": 0.0, "mean": 0.0, "max": float("-inf"), "min": float("inf"), "prod": 1.0}  # in each segment without initial


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """input with the entries at flat positions `index` = source, or += to accumulate."""
    if index.numel() != source.numel():
        cause = tr("put(): expected as many values as indices; got {} for {}", source.numel(), index.numel())
        raise ShapeError(cause, "source of index's shape")
    _same_dtype("put", input, source)
    take(input, index)  # complains about wrong indices
    flat = input.reshape(-1)
    index = index.reshape(-1)
    return index_put(flat, ((index % max(flat.numel(), 1)),), source.reshape(-1), accumulate).reshape(input.shape)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """input with its slice `index` along dim replaced by src."""
    return _embedded("select_scatter", input, src, lambda x: x.select(dim, index))


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """input with its slices start, start + step, ... before end along dim replaced by src."""
    axis = axis_of(dim, input._array.ndim)
    return _embedded("slice_scatter", input, src, lambda x: x[(slice(None),) * axis + (slice(start, end, step),)])


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """input with a diagonal replaced by src."""
    return _embedded("diagonal_scatter", input, src, lambda x: x.diagonal(offset, dim1, dim2))


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """input with the entries that as_strided shows replaced by src."""
    return _embedded("as_strided_scatter", input, src, lambda x: as_strided(x, size, stride, storage_offset))


def _embedded(name: str, input, src, part) -> Tensor:
    """A copy of input, of which `part` shows a view, with src there."""
    y = input.clone()
    there = part(y)
    if there.shape != src.shape:
        cause = tr("{}: expected src to have a size equal to the slice: {}, got {}", name, list(there.shape), list(src.shape))
        raise ShapeError(cause, None)
    write_(there, cast(src, input.dtype), name)
    keep((y,), input, src)
    return y


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view of the memory of input: entry i lies at storage_offset + i . stride, counted in entries from where the memory begins.

    Without storage_offset it begins where input does. dinput: the sum of dy over where input has each place.
    Raises IndexOutOfRangeError for places outside the memory.
    """
    size, stride = tuple(map(int, size)), tuple(map(int, stride))
    if len(size) != len(stride):
        raise ShapeError(tr("mismatch in length of strides and shape: as_strided got size={}, stride={}", size, stride), None)
    if any(s < 0 for s in stride) or any(n < 0 for n in size):
        cause = tr("as_strided: Negative strides and sizes are not supported; got size={}, stride={}", size, stride)
        raise ArgumentError(cause, "x.flip(0)")
    x = input._array
    owner, mine = owner_of(x), offset_of(x) // x.itemsize
    offset = 0 if storage_offset is None else int(storage_offset) - mine
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else offset - 1
    if offset + mine < 0 or (mine + last + 1) * x.itemsize > owner.nbytes:
        cause = tr("setStorage: sizes {}, strides {}, storage offset {} requiring a storage size of "
                   "{} are out of bounds for storage of size {}", list(size), list(stride), offset + mine,
                   (mine + last + 1) * x.itemsize, owner.nbytes)  # fmt: skip
        raise IndexOutOfRangeError(cause, "sizes and strides whose last entry lies inside")
    if storage_offset is not None or last * x.itemsize >= reach(x):
        events.memory_asked(input)
    if not np.may_share_memory(owner.ravel("K"), owner) and owner.size:
        raise ArgumentError("as_strided: the memory of this tensor has gaps", "x.contiguous()")
    return apply(ops.AsStrided, input, size=size, stride=stride, offset=offset)
