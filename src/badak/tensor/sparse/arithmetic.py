"""Arithmetic of sparse tensors, with each other, with dense ones and with numbers."""

from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError, ShapeError, tr
from badak.tensor import dtypes
from badak.tensor.arithmetic import mul as multiply
from badak.tensor.arithmetic import no_bool
from badak.tensor.concat import cat as concatenate
from badak.tensor.index import index_put
from badak.tensor.inplace_ops import add_ as add_dense_
from badak.tensor.sparse.create import coalesce, to_dense, to_sparse, to_sparse_coo
from badak.tensor.sparse.layout import DENSE, CooTensor, SparseTensor, as_dtype_of, become, coo
from badak.tensor.sparse.reductions import sum
from badak.tensor.tensor import Tensor


def add(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
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


def sub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    _no_bools(input, other)
    return add(input, other, alpha=-alpha)


def _no_bools(*given: Any) -> None:
    no_bool("Subtraction", *(x._entries if isinstance(x, SparseTensor) else x for x in given))


def mul(input: Any, other: Any) -> Tensor:
    """By a number, by a dense tensor at the places of the sparse one, by a sparse one at the places that both have."""
    if not isinstance(input, SparseTensor):
        input, other = other, input
    if not isinstance(other, Tensor) or other.ndim == 0:
        return input.like(multiply(input._entries, other))
    x: Any = coalesce(to_sparse_coo(input))
    if not isinstance(other, SparseTensor):
        if other.ndim > x.ndim or any(n not in (1, m) for n, m in zip(other.shape[::-1], x.shape[::-1])):
            raise ShapeError(tr("mul: {} does not broadcast to the sparse {}", tuple(other.shape), tuple(x.shape)), DENSE)
        made = x.like(x._entries * other.expand(x.shape)[tuple(x._at)])
    else:
        _same_size("mul", input, other)
        y: Any = coalesce(to_sparse_coo(other))
        a, b = (np.ravel_multi_index(tuple(each._at._array), each.shape[: each._at.shape[0]]) for each in (x, y))
        _, left, right = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        entries = x._entries[Tensor._of(left)] * y._entries[Tensor._of(right)]
        made = coo(x._at[:, Tensor._of(left)], entries, x._size, True)
    return made if isinstance(input, CooTensor) else to_sparse(made, layout=input.layout)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    if not isinstance(input, SparseTensor) or (isinstance(other, Tensor) and other.ndim > 0):
        raise NotSupportedError("Sparse division requires a scalar or zero-dim dense tensor divisor", DENSE)
    x = input if rounding_mode is None else _single(input)
    return x.like(x._entries.div(other, rounding_mode=rounding_mode))


def neg(input: SparseTensor) -> Tensor:
    return input.like(-input._entries)


def pow(input: SparseTensor, exponent: Any) -> Tensor:
    if not isinstance(exponent, int | float) or exponent <= 0 or not isinstance(input, SparseTensor):
        raise NotSupportedError("pow of a sparse tensor takes an exponent above 0, which leaves its zeros 0", DENSE)
    x = _single(input)
    return x.like(x._entries.pow(exponent))


def _single(x: Any) -> Any:
    """x without places that stand twice."""
    return coalesce(x) if isinstance(x, CooTensor) else x


def _same_size(name: str, a: Tensor, b: Tensor) -> None:
    if a.shape != b.shape:
        cause = tr("{}: expected sizes of 'self' and 'other' to match where one is sparse; got {} and {}", name, tuple(a.shape),
                   tuple(b.shape))  # fmt: skip
        raise ShapeError(cause, "tensors of one shape")


def norm(input: SparseTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    if dim is not None or p not in ("fro", 2, 2.0, None) or keepdim or dtype is not None:
        raise NotSupportedError("norm of a sparse tensor is that of all its values, p=2", DENSE)
    return _single(input)._entries.reshape(-1).norm()


def whole_sum(input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if keepdim:
        raise NotSupportedError("sum of a sparse tensor keeps no dim", DENSE)
    counts = dtype is None and dim is not None and input.dtype.kind in ("int", "uint", "bool")
    return sum(input, dim, dtypes.int64 if counts else dtype)


# ---------------------------------------------------------------------- in place


def add_(input: Tensor, *args: Any, alpha: Any = 1, other: Any = None) -> Tensor:
    other = args[-1] if args else other
    if not isinstance(other, Tensor):
        raise NotSupportedError("a number cannot be added to a sparse tensor: it is more than its values", DENSE)
    alpha = args[0] if len(args) == 2 else alpha
    if isinstance(input, SparseTensor):
        return become(input, as_dtype_of(input, add(input, other, alpha=alpha)))
    _same_size("add_", input, other)
    x = to_sparse_coo(other)
    if input.requires_grad or x.requires_grad:
        return add_dense_(input, to_dense(other), alpha=alpha)
    return input.index_put_(tuple(x._at), (x._entries * alpha).to(input.dtype), accumulate=True)


def sub_(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    _no_bools(input, other)
    return add_(input, other, alpha=-alpha)


def mul_(input: Tensor, other: Any) -> Tensor:
    return become(input, as_dtype_of(input, mul(input, other)))


def div_(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    return become(input, as_dtype_of(input, div(input, other, rounding_mode=rounding_mode)))


def zero_(input: SparseTensor) -> Tensor:
    if isinstance(input, CooTensor):
        return become(input, coo(input._at[:, :0], input._entries[:0], input._size, True))
    return become(input, input.like(input._entries * 0))
