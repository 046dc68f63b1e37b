"""Reductions into the places that an index names, and slices of a tensor replaced by others."""

from badak.core.errors import ArgumentError, IndexOutOfRangeError, ShapeError
from badak.core.memory import offset_of, owner_of
from badak.ops import scatter as ops
from badak.ops._check import axis_of
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.index import _along, _inside, _rows, _same_dtype, _slices, index_put, take
from badak.tensor.inplace import write_
from badak.tensor.once_more import keep
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor


def scatter_reduce(input, dim: int, index, src, reduce: str, *, include_self: bool = True, out=None) -> Tensor:
    """y[index[i, j, k], j, k] for dim = 0, and so on, is the sum, prod, mean, amax or amin of all src[i, j, k] that go there.

    include_self: the entry of input there counts too. Entries where nothing goes stay.   dsrc, dinput: what each took part with;
    of amax and amin equally among those that are equal.
    """
    if reduce not in ops.UFUNCS:
        raise ArgumentError(f"scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}", None)
    dim = _along("scatter_reduce", input, dim, index)
    _inside("scatter_reduce", index, input._array.shape, dim, "self")
    _same_dtype("scatter_reduce", input, src)
    _inside("scatter_reduce", index, src._array.shape, -1, "src")
    if not input._array.ndim:
        input, index, src = input.reshape(1), index.reshape(-1), src.reshape(-1)
        return scatter_reduce(input, 0, index, src, reduce, include_self=include_self, out=out).reshape(())
    return into(out, apply(ops.ScatterReduce, input, index, src, dim=dim, reduce=reduce, include_self=include_self))


def index_reduce(input, dim: int, index, source, reduce: str, *, include_self: bool = True, out=None) -> Tensor:
    """scatter_reduce of whole slices: slice index[k] along dim is the prod, mean, amax or amin of all source[k] that go there."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise ArgumentError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}", None)
    if not input._array.ndim:
        input, source = input.reshape(1), source.reshape(-1)
        return index_reduce(input, 0, index.reshape(-1), source, reduce, include_self=include_self, out=out).reshape(())
    dim, index = _rows("index_reduce", input, dim, index)
    _same_dtype("index_reduce", input, source)
    _slices("index_reduce", input, dim, index, source)
    along = index.reshape([-1 if a == dim else 1 for a in range(input.dim())]).expand(source.shape)
    return into(out, apply(ops.ScatterReduce, input, along, source, dim=dim, reduce=reduce, include_self=include_self))


def put(input, index, source, accumulate: bool = False) -> Tensor:
    """input with the entries at flat positions `index` = source, or += to accumulate."""
    if index.numel() != source.numel():
        raise ShapeError(
            f"put(): expected as many values as indices; got {source.numel()} for {index.numel()}",
            "source of index's shape",
        )
    _same_dtype("put", input, source)
    take(input, index)  # complains about wrong indices
    flat = input.reshape(-1)
    index = index.reshape(-1)
    return index_put(flat, ((index % max(flat.numel(), 1)),), source.reshape(-1), accumulate).reshape(input.shape)


def select_scatter(input, src, dim: int, index: int) -> Tensor:
    """input with its slice `index` along dim replaced by src."""
    return _embedded("select_scatter", input, src, lambda x: x.select(dim, index))


def slice_scatter(input, src, dim: int = 0, start=None, end=None, step: int = 1) -> Tensor:
    """input with its slices start, start + step, ... before end along dim replaced by src."""
    axis = axis_of(dim, input._array.ndim)
    return _embedded("slice_scatter", input, src, lambda x: x[(slice(None),) * axis + (slice(start, end, step),)])


def diagonal_scatter(input, src, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """input with a diagonal replaced by src."""
    return _embedded("diagonal_scatter", input, src, lambda x: x.diagonal(offset, dim1, dim2))


def as_strided_scatter(input, src, size, stride, storage_offset=None) -> Tensor:
    """input with the entries that as_strided shows replaced by src."""
    return _embedded("as_strided_scatter", input, src, lambda x: as_strided(x, size, stride, storage_offset))


def _embedded(name: str, input, src, part) -> Tensor:
    """A copy of input, of which `part` shows a view, with src there."""
    y = input.clone()
    there = part(y)
    if there.shape != src.shape:
        raise ShapeError(
            f"{name}: expected src to have a size equal to the slice: {list(there.shape)}, got {list(src.shape)}", None
        )
    write_(there, cast(src, input.dtype), name)
    keep((y,), input, src)
    return y


def as_strided(input, size, stride, storage_offset: int | None = None) -> Tensor:
    """A view of the memory of input: entry i lies at storage_offset + i . stride, counted in entries from where the memory begins.

    Without storage_offset it begins where input does. dinput: the sum of dy over where input has each place.
    Raises IndexOutOfRangeError for places outside the memory.
    """
    size, stride = tuple(map(int, size)), tuple(map(int, stride))
    if len(size) != len(stride):
        raise ShapeError(f"mismatch in length of strides and shape: as_strided got size={size}, stride={stride}", None)
    if any(s < 0 for s in stride) or any(n < 0 for n in size):
        raise ArgumentError(
            f"as_strided: Negative strides and sizes are not supported; got size={size}, stride={stride}", "x.flip(0)"
        )
    x = input._array
    owner, mine = owner_of(x), offset_of(x) // x.itemsize
    offset = 0 if storage_offset is None else int(storage_offset) - mine
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else offset - 1
    if offset + mine < 0 or (mine + last + 1) * x.itemsize > owner.nbytes:
        raise IndexOutOfRangeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset + mine} requiring a storage size of "
            f"{(mine + last + 1) * x.itemsize} are out of bounds for storage of size {owner.nbytes}",
            "sizes and strides whose last entry lies inside",
        )
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        raise ArgumentError("as_strided: the memory of this tensor lies in an order of its own", "x.contiguous()")
    return apply(ops.AsStrided, input, size=size, stride=stride, offset=offset)
