"""Other forms of a sparse tensor: other dtypes, dims in another order, parts of it."""

from typing import Any

import numpy as np

from badak.core.errors import IndexOutOfRangeError, NotSupportedError, ShapeError, tr
from badak.ops._check import axis_of
from badak.tensor import layouts
from badak.tensor.concat import cat as concatenate
from badak.tensor.sparse.create import coalesce, to_sparse_coo
from badak.tensor.sparse.layout import DENSE, CompressedTensor, CooTensor, SparseTensor, compressed, coo, expect_coo
from badak.tensor.tensor import Tensor


def size(input: SparseTensor, dim: int | None = None) -> Any:
    return input._size if dim is None else input._size[axis_of(dim, len(input._size))]


def to(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
    options.pop("memory_format", None)
    entries = input._entries.to(*args, **options)
    return input if entries is input._entries else input.like(entries)


def clone(input: SparseTensor, *, memory_format: Any = None) -> Tensor:
    twin: Any = input.like(input._entries.clone())
    for name in ("_at",) if isinstance(twin, CooTensor) else ("_starts", "_places"):
        setattr(twin, name, getattr(twin, name).clone())
    return twin


def detach(input: SparseTensor) -> Tensor:
    return input.like(input._entries.detach())


def detach_(input: SparseTensor) -> Tensor:
    input._entries = input._entries.detach()
    return input


def requires_grad_(input: SparseTensor, requires_grad: bool = True) -> Tensor:
    if requires_grad and not input.requires_grad:
        input._entries = input._entries.detach()
    input._entries.requires_grad_(requires_grad)
    return input


def transpose(input: SparseTensor, dim0: int, dim1: int) -> Tensor:
    """Two sparse dims, or two dense ones, change places."""
    order = list(range(input.ndim))
    a, b = axis_of(dim0, input.ndim), axis_of(dim1, input.ndim)
    order[a], order[b] = order[b], order[a]
    return permute(input, order)


def permute(input: SparseTensor, *dims: Any) -> Tensor:
    order = list(dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)
    order = [axis_of(dim, input.ndim) for dim in order]
    if sorted(order) != list(range(input.ndim)):
        cause = tr("permute(sparse_coo): expected each of the {} dims once; got {}", input.ndim, order)
        raise ShapeError(cause, "all dims, in another order")
    shape = [input.shape[dim] for dim in order]
    if isinstance(input, CompressedTensor):
        if order == sorted(order):
            return input
        if order[2:] != sorted(order[2:]) or order[:2] != [1, 0]:
            raise NotSupportedError("only the two sparse dims of a compressed tensor change places", DENSE)
        other = layouts.sparse_csc if input.layout is layouts.sparse_csr else layouts.sparse_csr
        return compressed(input._starts, input._places, input._entries, shape, other)
    n = input._at.shape[0]  # type: ignore[attr-defined]
    if sorted(order[:n]) != list(range(n)):
        raise NotSupportedError("a sparse dim and a dense one cannot change places", DENSE)
    at = input._at[Tensor._of(np.array(order[:n], np.int64))]  # type: ignore[attr-defined]
    entries = (
        input._entries if order[n:] == list(range(n, input.ndim)) else input._entries.permute(0, *(d - n + 1 for d in order[n:]))
    )
    return coo(at, entries, shape, input._tidy and order[:n] == list(range(n)))  # type: ignore[attr-defined]


def t(input: SparseTensor) -> Tensor:
    dense = input.dense_dim()
    if input.ndim - dense > 2 or dense:
        cause = tr("t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {} sparse and {} dense dimensions",
                   input.ndim - dense, dense)  # fmt: skip
        raise ShapeError(cause, "x.transpose(0, 1)")
    return input if input.ndim < 2 else transpose(input, 0, 1)


def index_select(input: SparseTensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `index` along a dim, each as often as it is named."""
    x, dim = to_sparse_coo(input), axis_of(dim, input.ndim)
    n, wanted = x._at.shape[0], index._array.reshape(-1)
    if wanted.size and (wanted.min() < 0 or wanted.max() >= x.shape[dim]):
        raise IndexOutOfRangeError(
            tr("index_select: expected indices in 0 .. {}; got {} .. {}", x.shape[dim] - 1, int(wanted.min()), int(wanted.max())),
            "indices in range",
        )
    shape = (*x.shape[:dim], wanted.size, *x.shape[dim + 1 :])
    if dim >= n:
        return x.like(x._entries.index_select(dim - n + 1, index), shape)
    along = x._at._array[dim]
    order = np.argsort(along, kind="stable")
    low = np.searchsorted(along[order], wanted)
    count = np.searchsorted(along[order], wanted, "right") - low
    to = np.repeat(np.arange(wanted.size), count)
    taken = order[np.arange(to.size) - np.repeat(np.cumsum(count) - count, count) + low[to]]
    at = x._at._array[:, taken]
    at[dim] = to
    made = coo(Tensor._of(at), x._entries[Tensor._of(taken)], shape, False)
    return coalesce(made) if x._tidy else made


def select(input: SparseTensor, dim: int, index: int) -> Tensor:
    """One slice along a sparse dim; dense where no sparse dim is left."""
    x, dim = to_sparse_coo(input), axis_of(dim, input.ndim)
    if dim >= x._at.shape[0]:
        raise NotSupportedError("select of a sparse tensor along a dense dim", DENSE)
    if not -x.shape[dim] <= index < x.shape[dim]:
        cause = tr("select: index {} is out of range for dim {} of size {}", index, dim, x.shape[dim])
        raise IndexOutOfRangeError(cause, f"0 .. {x.shape[dim] - 1}")
    taken = Tensor._of(np.flatnonzero(x._at._array[dim] == index % x.shape[dim]))
    entries, at = x._entries[taken], np.delete(x._at._array, dim, 0)[:, taken._array]
    return coo(Tensor._of(at), entries, x.shape[:dim] + x.shape[dim + 1 :], x._tidy) if len(at) else entries.sum(0)


def getitem(input: SparseTensor, key: Any) -> Tensor:
    """x[i] and x[i, j] for integers."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(type(each) is not int for each in keys) or len(keys) > input.ndim:
        raise NotSupportedError("x[key] of a sparse tensor takes integers", "x.index_select(dim, index), or x.to_dense()[key]")
    made: Any = input
    for each in keys:
        made = select(made, 0, each) if isinstance(made, SparseTensor) else made[each]
    return made


def unsqueeze(input: SparseTensor, dim: int) -> Tensor:
    """A new sparse dim of size 1."""
    x, dim = to_sparse_coo(input), axis_of(dim, input.ndim + 1)
    if dim > x._at.shape[0]:
        raise NotSupportedError("unsqueeze of a sparse tensor among its dense dims", DENSE)
    return coo(Tensor._of(np.insert(x._at._array, dim, 0, 0)), x._entries, (*x.shape[:dim], 1, *x.shape[dim:]), x._tidy)


def stack(tensors: Any, dim: int = 0) -> Tensor:
    return cat([unsqueeze(expect_coo("stack", x), dim) for x in tensors], dim)


def zeros_like(input: SparseTensor, *, dtype: Any = None, **accepted: Any) -> Tensor:
    x = expect_coo("zeros_like", input)
    return coo(x._at[:, :0].clone(), x._entries.detach()[:0].to(dtype or x.dtype), x._size, True)


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """COO tensors next to each other along a sparse dim."""
    xs = [expect_coo("cat", x) for x in tensors]
    dim = axis_of(dim, xs[0].ndim)
    if any(dim >= x._at.shape[0] for x in xs):
        raise NotSupportedError("cat of sparse tensors along a dense dim", DENSE)
    if any(x.shape[:dim] + x.shape[dim + 1 :] != xs[0].shape[:dim] + xs[0].shape[dim + 1 :] for x in xs):
        cause = tr("cat: expected shapes alike but for dim {}; got {}", dim, [tuple(x.shape) for x in xs])
        raise ShapeError(cause, "tensors that fit")
    parts, before = [], 0
    for x in xs:
        at = x._at._array.copy()
        at[dim] += before
        before += x.shape[dim]
        parts.append(at)
    shape = (*xs[0].shape[:dim], before, *xs[0].shape[dim + 1 :])
    return coo(Tensor._of(np.concatenate(parts, 1)), concatenate([x._entries for x in xs]), shape, False)
