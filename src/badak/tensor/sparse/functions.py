"""What sparse tensors say of themselves, and the functions of dense tensors that take them."""

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, ShapeError
from badak.ops._check import axis_of
from badak.tensor import dtypes, layouts
from badak.tensor.arithmetic import mul as multiply
from badak.tensor.concat import cat as concatenate
from badak.tensor.index import index_put
from badak.tensor.inplace_ops import add_ as add_dense_
from badak.tensor.sparse import products
from badak.tensor.sparse.create import coalesce, sparse_mask, to_dense, to_sparse, to_sparse_coo, to_sparse_csc, to_sparse_csr
from badak.tensor.sparse.layout import (
    DENSE, FUNCTIONS, CompressedTensor, CooTensor, SparseTensor, compressed, coo, expect_compressed, expect_coo,
)  # fmt: skip
from badak.tensor.sparse.reductions import log_softmax, softmax, sum
from badak.tensor.tensor import Tensor

# ---------------------------------------------------------------------- what they say of themselves


def indices(input: Tensor) -> Tensor:
    """(sparse dims, count): the places of a coalesced COO tensor."""
    return _coalesced("indices", input)._at


def values(input: Tensor) -> Tensor:
    """The values of a CSR tensor or a coalesced COO tensor, with their history."""
    if isinstance(input, CompressedTensor):
        return input._entries
    return _coalesced("values", input)._entries


def _indices(input: Tensor) -> Tensor:
    """(sparse dims, count): the places of a COO tensor, coalesced or not."""
    return expect_coo("_indices", input)._at


def _values(input: Tensor) -> Tensor:
    """The values of a COO tensor, coalesced or not, without history."""
    return expect_coo("_values", input)._entries.detach()


def _coalesced(name: str, input: Tensor) -> CooTensor:
    x = expect_coo(name, input)
    if not (x._tidy or x._claimed):
        raise ArgumentError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first", f"x.coalesce().{name}()")
    return x


def crow_indices(input: Tensor) -> Tensor:
    """Where the rows of a CSR tensor begin and end in its values."""
    return expect_compressed("crow_indices", input, layouts.sparse_csr)._starts


def col_indices(input: Tensor) -> Tensor:
    """The column of each value of a CSR tensor."""
    return expect_compressed("col_indices", input, layouts.sparse_csr)._places


def ccol_indices(input: Tensor) -> Tensor:
    """Where the columns of a CSC tensor begin and end in its values."""
    return expect_compressed("ccol_indices", input, layouts.sparse_csc)._starts


def row_indices(input: Tensor) -> Tensor:
    """The row of each value of a CSC tensor."""
    return expect_compressed("row_indices", input, layouts.sparse_csc)._places


def is_coalesced(input: Tensor) -> bool:
    """Whether the places of a COO tensor are known to be in order, none twice."""
    x = expect_coo("is_coalesced", input)
    return x._tidy or x._claimed


def _coalesced_(input: Tensor, coalesced: bool) -> Tensor:
    """Say of a COO tensor that its places are in order, none twice."""
    x = expect_coo("_coalesced_", input)
    x._claimed = bool(coalesced)
    return x


def sparse_dim(input: Tensor) -> int:
    """How many dims are sparse; 0 of a dense tensor."""
    return input._at.shape[0] if isinstance(input, CooTensor) else 2 if isinstance(input, CompressedTensor) else 0


def dense_dim(input: Tensor) -> int:
    """How many dims are dense."""
    return input.ndim - sparse_dim(input)


def _nnz(input: Tensor) -> int:
    """How many values a sparse tensor holds."""
    if not isinstance(input, SparseTensor):
        raise ArgumentTypeError(f"_nnz: expected a sparse tensor; got layout {input.layout}", "x.count_nonzero()")
    return input._entries.shape[0]


def size(input: SparseTensor, dim: int | None = None) -> Any:
    return input._size if dim is None else input._size[axis_of(dim, len(input._size))]


# ---------------------------------------------------------------------- arithmetic


def add(input: Tensor, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """Two of the same layout give it, a dense input a dense result."""
    if isinstance(input, SparseTensor) and not isinstance(other, SparseTensor):
        raise NotSupportedError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.", "x.to_dense() + y")
    if not isinstance(input, SparseTensor):
        x = to_sparse_coo(other)
        _same_size("add", input, other)
        kind = dtypes.promote_types(input.dtype, other.dtype)
        scaled = x._entries if alpha == 1 else x._entries * alpha
        return index_put(input.to(kind), tuple(x._at), scaled.to(kind), accumulate=True)
    _same_size("add", input, other)
    a, b = to_sparse_coo(input), to_sparse_coo(other)
    if a._at.shape[0] != b._at.shape[0]:
        raise ShapeError("add: expected as many sparse dims of both", DENSE)
    kind = dtypes.promote_types(a.dtype, b.dtype)
    scaled = b._entries if alpha == 1 else b._entries * alpha
    both = coo(concatenate([a._at, b._at], 1), concatenate([a._entries.to(kind), scaled.to(kind)]), a._size, False)
    made = coalesce(both) if a._tidy and b._tidy else both
    return made if isinstance(input, CooTensor) else to_sparse(made, layout=input.layout)


def sub(input: Tensor, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    return add(input, other, alpha=-alpha)


def mul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """By a number, by a dense tensor at the places of the sparse one, by a sparse one at the places that both have."""
    if not isinstance(input, SparseTensor):
        input, other = other, input
    if not isinstance(other, Tensor) or other.ndim == 0:
        return input.like(multiply(input._entries, other))
    x = coalesce(to_sparse_coo(input))
    if not isinstance(other, SparseTensor):
        if other.ndim > x.ndim or any(n not in (1, m) for n, m in zip(other.shape[::-1], x.shape[::-1])):
            raise ShapeError(f"mul: {tuple(other.shape)} does not broadcast to the sparse {tuple(x.shape)}", DENSE)
        made = x.like(x._entries * other.expand(x.shape)[tuple(x._at)])
    else:
        _same_size("mul", input, other)
        y: Any = coalesce(to_sparse_coo(other))
        a, b = (np.ravel_multi_index(tuple(each._at._array), each.shape[: each._at.shape[0]]) for each in (x, y))
        _, left, right = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        entries = x._entries[Tensor._of(left)] * y._entries[Tensor._of(right)]
        made = coo(x._at[:, Tensor._of(left)], entries, x._size, True)
    return made if isinstance(input, CooTensor) else to_sparse(made, layout=input.layout)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    if not isinstance(input, SparseTensor) or (isinstance(other, Tensor) and other.ndim > 0):
        raise NotSupportedError("Sparse division requires a scalar or zero-dim dense tensor divisor", DENSE)
    x = input if rounding_mode is None else _single(input)
    return x.like(x._entries.div(other, rounding_mode=rounding_mode))


def neg(input: SparseTensor, *, out: Any = None) -> Tensor:
    return input.like(-input._entries)


def pow(input: SparseTensor, exponent: Any, *, out: Any = None) -> Tensor:
    if not isinstance(exponent, int | float) or exponent <= 0 or not isinstance(input, SparseTensor):
        raise NotSupportedError("pow of a sparse tensor takes an exponent above 0, which leaves its zeros 0", DENSE)
    x = _single(input)
    return x.like(x._entries.pow(exponent))


def _of_each(name: str) -> Callable[..., Tensor]:
    """A function with f(0) = 0, of each value."""

    def function(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
        x = _single(input)
        return x.like(getattr(x._entries, name)(*args, **options))

    return function


def _single(x: Any) -> Any:
    """x without places that stand twice."""
    return coalesce(x) if isinstance(x, CooTensor) else x


def _same_size(name: str, a: Tensor, b: Tensor) -> None:
    if a.shape != b.shape:
        raise ShapeError(
            f"{name}: expected sizes of 'self' and 'other' to match where one is sparse; got {tuple(a.shape)} and {tuple(b.shape)}",
            "tensors of one shape",
        )


# ---------------------------------------------------------------------- in place


def add_(input: Tensor, *args: Any, alpha: Any = 1, other: Any = None) -> Tensor:
    other = args[-1] if args else other
    alpha = args[0] if len(args) == 2 else alpha
    if isinstance(input, SparseTensor):
        return _become(input, add(input, other, alpha=alpha))
    _same_size("add_", input, other)
    x = to_sparse_coo(other)
    if input.requires_grad or x.requires_grad:
        return add_dense_(input, to_dense(other), alpha=alpha)
    return input.index_put_(tuple(x._at), (x._entries * alpha).to(input.dtype), accumulate=True)


def sub_(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return add_(input, other, alpha=-alpha)


def mul_(input: Tensor, other: Any) -> Tensor:
    return _become(input, mul(input, other))


def div_(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    return _become(input, div(input, other, rounding_mode=rounding_mode))


def zero_(input: SparseTensor) -> Tensor:
    if isinstance(input, CooTensor):
        return _become(input, coo(input._at[:, :0], input._entries[:0], input._size, True))
    return _become(input, input.like(input._entries * 0))


def _become(x: Any, made: Any) -> Tensor:
    if not isinstance(x, SparseTensor) or type(made) is not type(x) or made.dtype is not x.dtype:
        raise NotSupportedError("an operation in place must keep layout and dtype; this one would change them", "y = x * other")
    if x.requires_grad and x.is_leaf:
        raise NotSupportedError("a leaf that requires grad, and is sparse, is not changed in place", "x = x * other")
    for name in type(x).__annotations__ | SparseTensor.__annotations__:
        if name != "layout" and name != "is_sparse":
            setattr(x, name, getattr(made, name))
    return x


# ---------------------------------------------------------------------- other forms


def to(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
    options.pop("memory_format", None)
    entries = input._entries.to(*args, **options)
    return input if entries is input._entries else input.like(entries)


def _converted(name: str) -> Callable[..., Tensor]:
    def function(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
        entries = getattr(input._entries, name)(*args, **options)
        return input if entries is input._entries else input.like(entries)

    return function


def _told(name: str) -> Callable[..., Any]:
    """What the values say, of the whole tensor."""
    return lambda input: getattr(input._entries, name)()


def clone(input: SparseTensor, *, memory_format: Any = None) -> Tensor:
    twin: Any = input.like(input._entries.clone())
    for name in ("_at",) if isinstance(twin, CooTensor) else ("_starts", "_places"):
        setattr(twin, name, getattr(twin, name).clone())
    return twin


def detach(input: SparseTensor) -> Tensor:
    return input.like(input._entries.detach())


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
        raise ShapeError(f"permute(sparse_coo): expected each of the {input.ndim} dims once; got {order}", "all dims, in another order")
    shape = [input.shape[dim] for dim in order]
    if isinstance(input, CompressedTensor):
        if order == [0, 1]:
            return input
        other = layouts.sparse_csc if input.layout is layouts.sparse_csr else layouts.sparse_csr
        return compressed(input._starts, input._places, input._entries, shape, other)
    n = input._at.shape[0]  # type: ignore[attr-defined]
    if sorted(order[:n]) != list(range(n)):
        raise NotSupportedError("a sparse dim and a dense one cannot change places", DENSE)
    at = input._at[Tensor._of(np.array(order[:n], np.int64))]  # type: ignore[attr-defined]
    entries = input._entries if order[n:] == list(range(n, input.ndim)) else input._entries.permute(0, *(d - n + 1 for d in order[n:]))
    return coo(at, entries, shape, input._tidy and order[:n] == list(range(n)))  # type: ignore[attr-defined]


def t(input: SparseTensor) -> Tensor:
    return input if input.ndim < 2 else transpose(input, 0, 1)


def index_select(input: SparseTensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    """The slices of `index` along a dim, each as often as it is named."""
    x, dim = to_sparse_coo(input), axis_of(dim, input.ndim)
    n, wanted = x._at.shape[0], index._array.reshape(-1)
    if wanted.size and (wanted.min() < 0 or wanted.max() >= x.shape[dim]):
        raise ShapeError(f"index_select: expected indices in 0 .. {x.shape[dim] - 1}; got {int(wanted.max())}", "indices in range")
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
        raise ShapeError(f"select: index {index} is out of range for dim {dim} of size {x.shape[dim]}", f"0 .. {x.shape[dim] - 1}")
    taken = Tensor._of(np.flatnonzero(x._at._array[dim] == index % x.shape[dim]))
    entries, at = x._entries[taken], np.delete(x._at._array, dim, 0)[:, taken._array]
    return coo(Tensor._of(at), entries, x.shape[:dim] + x.shape[dim + 1 :], x._tidy) if len(at) else entries.sum(0)


def getitem(input: SparseTensor, key: Any) -> Tensor:
    """x[i] and x[i, j] for integers."""
    keys = key if isinstance(key, tuple) else (key,)
    if builtins.any(type(each) is not int for each in keys) or len(keys) > input.ndim:
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


def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    return cat([unsqueeze(expect_coo("stack", x), dim) for x in tensors], dim)


def zeros_like(input: SparseTensor, *, dtype: Any = None, **accepted: Any) -> Tensor:
    x = expect_coo("zeros_like", input)
    return coo(x._at[:, :0].clone(), x._entries.detach()[:0].to(dtype or x.dtype), x._size, True)


def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """COO tensors next to each other along a sparse dim."""
    xs = [expect_coo("cat", x) for x in tensors]
    dim = axis_of(dim, xs[0].ndim)
    if builtins.any(dim >= x._at.shape[0] for x in xs):
        raise NotSupportedError("cat of sparse tensors along a dense dim", DENSE)
    if builtins.any(x.shape[:dim] + x.shape[dim + 1 :] != xs[0].shape[:dim] + xs[0].shape[dim + 1 :] for x in xs):
        raise ShapeError(f"cat: expected shapes alike but for dim {dim}; got {[tuple(x.shape) for x in xs]}", "tensors that fit")
    parts, before = [], 0
    for x in xs:
        at = x._at._array.copy()
        at[dim] += before
        before += x.shape[dim]
        parts.append(at)
    shape = (*xs[0].shape[:dim], before, *xs[0].shape[dim + 1 :])
    return coo(Tensor._of(np.concatenate(parts, 1)), concatenate([x._entries for x in xs]), shape, False)


def norm(input: SparseTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Tensor:
    if dim is not None or p not in ("fro", 2, 2.0, None):
        raise NotSupportedError("norm of a sparse tensor is that of all its values, p=2", DENSE)
    return _single(input)._entries.reshape(-1).norm()


def whole_sum(input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if keepdim:
        raise NotSupportedError("sum of a sparse tensor keeps no dim", DENSE)
    return sum(input, dim, dtype)


_OF_ZERO = "abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil deg2rad rad2deg erf erfinv expm1 floor frac log1p"
_EACH = f"{_OF_ZERO} positive relu round sgn sign sin sinh sqrt square tan tanh trunc fix isnan isinf isposinf isneginf"
_KINDS = "float double half bfloat16 int long short bool cpu type_as"
_TELL = "is_floating_point is_complex is_signed element_size get_device is_inference is_shared is_pinned"
FUNCTIONS |= {name: _of_each(name) for name in _EACH.split()}
FUNCTIONS |= {name: _converted(name) for name in _KINDS.split()}
FUNCTIONS |= {name: _told(name) for name in _TELL.split()}
FUNCTIONS |= {
    function.__name__: function
    for function in (
        indices, values, _indices, _values, crow_indices, col_indices, ccol_indices, row_indices, is_coalesced, _coalesced_, sparse_dim,
        dense_dim, _nnz, size, add, sub, mul, div, pow, add_, sub_, mul_, div_, zero_, to, clone, detach, requires_grad_,
        transpose, permute, t, index_select, select, unsqueeze, stack, zeros_like, cat, norm, coalesce, sparse_mask, to_dense, to_sparse, to_sparse_coo,
        to_sparse_csr, to_sparse_csc, softmax, log_softmax, products.matmul, products.mv, products.addmm,
    )
}  # fmt: skip
FUNCTIONS |= {
    "T": t,
    "mT": lambda input: transpose(input, -2, -1),
    "mm": lambda input, mat2, *, out=None: products.mm(input, mat2),
    "__rmatmul__": lambda input, other: products.mm(Tensor._of(np.asarray(other)), input),
    "subtract": sub, "multiply": mul, "divide": div, "true_divide": div, "concat": cat, "concatenate": cat,
    "__iadd__": add_, "__isub__": sub_, "__imul__": mul_, "__itruediv__": div_,
    "swapaxes": transpose, "swapdims": transpose,
    "dim": lambda input: input.ndim, "ndimension": lambda input: input.ndim,
    "numel": lambda input: input._size.numel(), "nelement": lambda input: input._size.numel(),
    "is_same_size": lambda input, other: input.shape == other.shape,
    "sum": whole_sum, "neg": neg, "negative": neg, "__pow__": pow, "__getitem__": getitem, "empty_like": zeros_like,
    "linear": products.linear,
}  # fmt: skip
