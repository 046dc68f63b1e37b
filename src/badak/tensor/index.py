"""Picking and replacing entries by index: gather, scatter, index_*, masked_*, take, nonzero.

`index` holds int64 (or int32) positions along `dim`, counted from 0; x[key] is in getset.py.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.ops import along
from badak.ops import index as ops
from badak.ops._broadcast import stretched
from badak.ops._check import axis_of, position
from badak.ops.scatter import ScatterReduce
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.create import zeros
from badak.tensor.data import fit
from badak.tensor.elementwise import check_mask, where
from badak.tensor.getset import old_mask
from badak.tensor.promote import factor, into, operand
from badak.tensor.tensor import Tensor


@events.check(elementwise=True)
def _check_index(name: str, index, n: int, dim) -> None:
    array = index._array
    if array.dtype.kind not in "iu" or array.dtype == np.uint8:
        raise DTypeError(tr("{}(): Expected dtype int32/int64 for index; got {}", name, index.dtype), "index.long()")
    if array.size and not (0 <= array.min() and array.max() < n):
        wrong = (array < 0) | (array >= n)
        raise IndexOutOfRangeError(
            tr("{}(): index {} is out of bounds for dimension {} with size {}", name, array[wrong].flat[0], dim, n),
            tr("index{} is the first of {} such; valid are 0..{}", position(wrong), np.count_nonzero(wrong), n - 1)
            if n
            else "that dimension is empty",
        )


def _placed(name: str, input, dim, index, src=None):
    """(input, dim from 0, index, src) that fit each other, as vectors where they have no dims.

    An index without entries, of whatever dtype and dims, names no place, as in PyTorch.
    """
    dim, input, index, src = axis_of(dim, input._array.ndim), _vector(input), _vector(index), _vector(src)
    ndim = input._array.ndim
    if isinstance(src, Tensor):
        _same_dtype(name, input, src)
    if not index._array.size:
        none = (0,) * ndim
        src = src.reshape(-1)[:0].reshape(none) if isinstance(src, Tensor) else src
        return input, dim, zeros(none, dtype=dtypes.int64), src
    for other, what in ((input, "input"), (src, "src")):
        if isinstance(other, Tensor) and index._array.ndim != other._array.ndim:
            cause = tr("{}: Index tensor must have the same number of dimensions as {} tensor; got index of shape {}, {} of {}",
                       name, what, index._array.shape, what, other._array.shape)  # fmt: skip
            raise ShapeError(cause, "index.unsqueeze(-1), and squeeze the result")
    _check_index(name, index, input._array.shape[dim], dim)
    _inside(name, index, input._array.shape, dim, "self")
    if isinstance(src, Tensor):
        _inside(name, index, src._array.shape, -1, "src")
    return input, dim, index, src


def _vector(x):
    """x, or the vector of it, where it is a tensor without dims."""
    return x.reshape(1) if isinstance(x, Tensor) and not x._array.ndim else x


def _inside(name: str, index, shape, dim: int, what: str) -> None:
    for a, (n, m) in enumerate(zip(index._array.shape, shape)):
        if n > m and a != dim:
            cause = tr("Size does not match at dimension {} expected index {} to be no larger than {} {} apart from dimension {}",
                       a, list(index._array.shape), what, list(shape), dim)  # fmt: skip
            raise ShapeError(cause, tr("{} reads one entry for each entry of index", name))


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """y[i, j, k] = x[i, index[i, j, k], k] for dim = 1, and so on.   dx[i, index[i, j, k], k] += dy[i, j, k].

    Args:
        input: any shape
        dim: the axis that is indexed
        index: integers, with as many axes as input
        sparse_grad: accepted; the gradient is dense
        out: where the result is written

    Returns: tensor of index's shape

    Raises:
        IndexOutOfRangeError: for an index outside the axis

    Example:
        >>> badak.tensor([[1, 2], [3, 4]]).gather(1, badak.tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    x, dim, places, _ = _placed("gather", input, dim, index)
    y = apply(along.Gather, x, places, dim=dim)
    y = y if places is index else y.reshape(index._array.shape)
    if out is not None and out.dtype is not y.dtype:
        raise DTypeError(tr("gather: expected out to have dtype {}; got {}", y.dtype, out.dtype), "leave out= away")
    return into(out, y, exact=True)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """gather, with input and indices broadcast against each other apart from dim; without dim on the flat input.

    Indices below 0 count from the end.
    """
    if indices.dtype.name != "int64":
        raise DTypeError(tr("take_along_dim(): dtype of indices should be Long but got {}", indices.dtype.word), "indices.long()")
    if dim is None:
        input, indices, dim = input.reshape(-1), indices.reshape(-1), 0
    if input._array.ndim != indices._array.ndim:
        cause = tr("torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                   "{} dimensions for input, and {} dimensions for indices", input._array.ndim, indices._array.ndim)  # fmt: skip
        raise ShapeError(cause, "indices.unsqueeze(dim)")
    dim = axis_of(dim, input._array.ndim)
    indices = where(indices < 0, indices + input._array.shape[dim], indices)
    a, b = list(input._array.shape), list(indices._array.shape)
    a[dim] = b[dim] = 1
    common = list(stretched(a, b))
    a, b = common.copy(), common.copy()
    a[dim], b[dim] = input._array.shape[dim], indices._array.shape[dim]
    return gather(input.expand(a), dim, indices.expand(b))


def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
    """x with x[i, index[i, j, k], k] = src[i, j, k] for dim = 1, and so on; src may be a number.

    dx = dy, 0 where replaced;   dsrc = dy there. Where an index occurs twice, the last one holds.
    reduce "add" adds instead (see scatter_add), "multiply" multiplies.

    Args:
        dim: the axis that is indexed
        index: integers, with as many axes as input
        src: a tensor or a number
        value: a number
        reduce: "add" or "multiply"

    Returns: tensor of input's shape

    Raises:
        IndexOutOfRangeError: for an index outside the axis

    Example:
        >>> badak.zeros(3).scatter(0, badak.tensor([1]), 5.0).tolist()
        [0.0, 5.0, 0.0]
    """
    src = value if src is None else src
    x, dim, index, src = _placed("scatter", input, dim, index, src)
    if reduce is not None:
        return _as_was(_scatter_reduced(x, dim, index, src, reduce), input)
    if not isinstance(src, Tensor):
        c = fit(operand(src, "scatter"), input._array.dtype, "scatter")
        return _as_was(apply(along.ScatterFill, x, index, c=c, dim=dim), input)
    return _as_was(apply(along.Scatter, x, index, src, dim=dim), input)


def _as_was(y, input) -> Tensor:
    """y without dims where input, of which _placed made a vector, has none."""
    return y if input._array.ndim else y.reshape(())


def _scatter_reduced(input, dim: int, index, src, reduce: str) -> Tensor:
    if not isinstance(src, Tensor):
        src = Tensor._of(np.full(index._array.shape, factor(input, src, "scatter"), input._array.dtype))
    if reduce == "add":
        return scatter_add(input, dim, index, src)
    if reduce != "multiply":
        raise ArgumentError(tr("reduce argument must be either add or multiply. got {}", reduce), None)
    return apply(ScatterReduce, input, index, src, dim=dim, reduce="prod", include_self=True)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """x with x[i, index[i, j, k], k] += src[i, j, k] for dim = 1, and so on.   dx = dy;   dsrc = dy there."""
    _need_tensor("scatter_add", "src", src)
    x, dim, index, src = _placed("scatter_add", input, dim, index, src)
    return _as_was(apply(along.ScatterAdd, x, index, src, dim=dim), input)


def _same_dtype(name: str, input, src) -> None:
    _need_tensor(name, "source", src)
    if input._array.dtype != src._array.dtype:
        cause = tr("{}(): Expected self.dtype to be equal to src.dtype; got {} and {}", name, input.dtype, src.dtype)
        raise DTypeError(cause, "src.to(x.dtype)")


def _need_tensor(name: str, argument: str, x) -> None:
    if not isinstance(x, Tensor):
        cause = tr("{}(): argument '{}' must be Tensor, not {}", name, argument, type(x).__name__)
        raise ArgumentTypeError(cause, "badak.tensor(data) makes one")


def _rows(name: str, input, dim, index):
    """(dim from 0, index as a vector) for the functions that take whole slices."""
    _need_tensor(name, "index", index)
    dim = axis_of(dim, input._array.ndim)
    if index._array.ndim > 1:
        raise ShapeError(tr("{}(): Index is supposed to be a vector; got shape {}", name, index._array.shape), "index.flatten()")
    _check_index(name, index, input._array.shape[dim] if input._array.ndim else 1, dim)
    return dim, index if index._array.ndim else index.reshape(1)


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices index[0], index[1], ... along dim.   dx's slice index[k] += dy's slice k."""
    dim, index = _rows("index_select", input, dim, index)
    if input._array.ndim:
        y = apply(along.IndexSelect, input, index, dim=dim)
    else:
        y = apply(along.IndexSelect, input.reshape(1), index, dim=0).reshape(())
    return into(out, y, exact=True)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: complex = 1) -> Tensor:
    """x with slice index[k] along dim += alpha source[k].   dx = dy;   dsource[k] = alpha dy[index[k]]."""
    if not input._array.ndim:
        return index_add(input.reshape(1), dim, index, source.reshape(-1), alpha=alpha).reshape(())
    dim, index = _rows("index_add", input, dim, index)
    _same_dtype("index_add", input, source)
    _slices("index_add", input, dim, index, source)
    return apply(along.IndexAdd, input, index, source, dim=dim, c=fit(alpha, input._array.dtype, "index_add"))


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """x with slice index[k] along dim = source[k].   dx = dy, 0 there;   dsource[k] = dy[index[k]]."""
    if not input._array.ndim:
        return index_copy(input.reshape(1), dim, index, source.reshape(-1)).reshape(())
    source = as_slice(input, source)
    dim, index = check_index_copy(input, dim, index, source)
    return apply(along.IndexCopy, input, index, source, dim=dim)


def as_slice(input: Tensor, source: Any) -> Any:
    """source, or the vector of it, where it is the one number that goes into a vector."""
    scalar = isinstance(source, Tensor) and not source._array.ndim and input._array.ndim == 1
    return source.reshape(1) if scalar else source


def check_index_copy(input: Tensor, dim: int, index: Tensor | Sequence[int], source: Tensor | float) -> tuple:
    """(dim from 0, index as a vector) of an index_copy that can be done."""
    dim, index = _rows("index_copy", input, dim, index)
    _same_dtype("index_copy", input, source)
    _slices("index_copy", input, dim, index, source)
    return dim, index


def _slices(name: str, input, dim: int, index, source) -> None:
    expected = (*input._array.shape[:dim], index._array.size, *input._array.shape[dim + 1 :])
    if source._array.shape != expected:
        cause = tr("{}(): expected source of shape {}, one slice for each index; got {}", name, expected, source._array.shape)
        raise ShapeError(cause, "source's other dims are input's")


def index_fill(input: Any, dim: int, index: Tensor, value: Any) -> Tensor:
    """x with the slices `index` along dim = value, a number or a 0-d tensor.   dx = dy, 0 there;   dvalue = sum of dy there."""
    if not input._array.ndim:
        return index_fill(input.reshape(1), dim, index, value).reshape(())
    _need_tensor("index_fill", "index", index)
    if index._array.size and index._array.min() < 0:  # the one function of slices that counts from the end, too
        n = input.size(dim)
        index = where((index < 0) & (index >= -n), index + n, index)
    dim, index = _rows("index_fill", input, dim, index)
    if isinstance(value, Tensor) and (value.requires_grad or (value.is_floating_point() and input.is_floating_point())):
        filled = apply(along.IndexFill, zeros(input._array.shape[dim], dtype=dtypes.bool_), index, c=True, dim=0)
        filled = filled.reshape([-1 if a == dim else 1 for a in range(input._array.ndim)])
        return where(filled, cast(value, input.dtype), input)
    value = value.item() if isinstance(value, Tensor) else operand(value, "index_fill")
    if type(value) is complex and input._array.dtype.kind != "c":
        cause = tr("index_fill_(): Converting complex Scalar to non-complex type is not supported")
        raise DTypeError(cause, "c.real, or a complex tensor")
    value = fit(value, input._array.dtype, "index_fill")
    return apply(along.IndexFill, input, index, c=value, dim=dim)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """x with x[indices] = values, or += to accumulate."""
    arrays = (slice(None) if i is None else i._array for i in indices)
    key = tuple(old_mask(each) if isinstance(each, np.ndarray) and each.dtype == np.uint8 else each for each in arrays)
    if values.dtype is not input.dtype:
        cause = tr("Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
                   input.dtype.word, values.dtype.word)  # fmt: skip
        raise DTypeError(cause, "values.to(input.dtype), or input[indices] = values")
    return apply(ops.IndexPut, input, values, key=key, accumulate=accumulate)


def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The entries where mask, in a vector.   dx = dy there, 0 elsewhere."""
    check_mask("masked_select", mask)
    stretched(input._array.shape, mask._array.shape)
    return into(out, apply(ops.MaskedSelect, input, mask), exact=True)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """x with the entries where mask replaced by the first entries of source, in order."""
    check_mask("masked_scatter", mask)
    _same_dtype("masked_scatter", input, source)
    shape = stretched(input._array.shape, mask._array.shape)
    _check_count(mask, shape, source)
    return apply(ops.MaskedScatter, input.expand(shape), mask, source)


@events.check
def _check_count(mask, shape, source) -> None:
    count = np.count_nonzero(np.broadcast_to(mask._array, shape))
    if count > source._array.size:
        cause = tr("masked_scatter: expected as many values as the mask has True; got {} for {}", source._array.size, count)
        raise ShapeError(cause, "a source with more values, or a mask with fewer True")


def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The entries at flat positions `index`, in index's shape.   dx[index] += dy."""
    if index.dtype is not dtypes.int64:
        raise DTypeError(tr("{}(): Expected dtype int32/int64 for index; got {}", "take", index.dtype), "index.long()")
    n = input._array.size
    flat = Tensor._of(np.where(index._array < 0, index._array + n, index._array))
    _check_index("take", flat, n, 0)
    return into(out, apply(ops.Take, input, flat), exact=True)


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The indices of the entries that are not 0: (count, dims), or with as_tuple a vector for each dim."""
    events.read(tr("nonzero, for the size of its result"))
    if out is not None and as_tuple:
        raise ArgumentError("nonzero does not support the out kwarg when as_tuple is True", "as_tuple=False")
    if out is not None and out.dtype is not dtypes.int64:
        words = tr("nonzero: Expected out tensor to have scalar type Long but got scalar type")
        raise DTypeError(tr("{}{}", words, out.dtype.word), "out=badak.empty(0, dtype=badak.int64)")
    if as_tuple:
        return tuple(Tensor._of(i) for i in np.nonzero(np.atleast_1d(input._array)))
    return into(out, Tensor._of(np.argwhere(input._array).astype(np.int64, copy=False)))


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` rows of nonzero, filled up with fill_value: (size, dims)."""
    if size < 0:
        raise ShapeError(tr("nonzero_static: expected size >= 0; got {}", size), "size=x.numel()")
    found = nonzero(input)._array[:size]
    made = np.full((size, found.shape[1]), fill_value, np.int64)
    made[: len(found)] = found
    return Tensor._of(made)


def argwhere(input: Tensor) -> Tensor:
    """The indices of the entries that are not 0: (count, dims)."""
    return nonzero(input)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice `index` along dim; a view."""
    dim = axis_of(dim, input._array.ndim)
    n = input._array.shape[dim]
    if not -n <= index < n:
        cause = tr("select(): index {} out of range for tensor of size {} at dimension {}", index, list(input._array.shape), dim)
        raise IndexOutOfRangeError(cause, None)
    return apply(ops.Select, input, key=(slice(None),) * dim + (int(index),))


def narrow(input: Tensor, dim: int, start: Tensor | int, length: int) -> Tensor:
    """`length` entries along dim from `start`; a view."""
    dim = axis_of(dim, input._array.ndim)
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise DTypeError(tr("narrow: start must be a 0-dim integral Tensor or an int; got {!r}", start), "start=int(start)")
    n, start = input._array.shape[dim], int(start)
    start = start + n if start < 0 else start
    if length < 0 or start < 0 or start + length > n:
        raise IndexOutOfRangeError(tr("start ({}) + length ({}) exceeds dimension size ({}).", start, length, n), None)
    return apply(ops.Select, input, key=(slice(None),) * dim + (slice(start, start + length),))
