"""Sums and softmax of sparse tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.core.public_api.taken import named
from badak.ops._check import axis_of
from badak.tensor.index import index_add
from badak.tensor.scatter import scatter_reduce
from badak.tensor.sparse.create import coalesce, to_sparse_coo
from badak.tensor.sparse.layout import SparseTensor, coo, distinct
from badak.tensor.tensor import Tensor


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of all values, or along dims: dense where no sparse dim is left, sparse elsewhere.

    Args:
        input: a sparse tensor
        dim: an axis, several, or None for all
        dtype: of the result

    Returns: a tensor without these dims

    Example:
        >>> badak.sparse.sum(badak.eye(3).to_sparse()).item()
        3.0
    """
    x = to_sparse_coo(_sparse("sparse.sum", input))
    x = to_sparse_coo(coalesce(x)) if x._entries._array.dtype.kind == "b" else x  # True and True at one place are one True
    entries = x._entries if dtype is None else x._entries.to(dtype)
    if dim is None:
        return entries.sum(dtype=dtype)
    dims = {axis_of(one, x.ndim) for one in ([dim] if isinstance(dim, int) else dim)}
    if not dims:
        raise ArgumentError("sparse.sum: expected at least one dim; got ()", "dim=None for all")
    n = x._at.shape[0]
    inner = [d - n + 1 for d in sorted(dims) if d >= n]
    entries = entries.sum(inner) if inner else entries
    kept = [d for d in range(n) if d not in dims]
    if not kept:
        return entries.sum(0)
    shape = [size for d, size in enumerate(x.shape) if d not in dims]
    left = coo(x._at[Tensor._of(np.array(kept))], entries, shape, x._tidy and len(kept) == n)
    return coalesce(left)  # PyTorch does so even where no places fall together


def _over_values(name: str, says: str, example: str) -> Callable[..., Tensor]:
    def function(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        return _softmax(_sparse(f"sparse.{name}", input), dim, dtype, name == "log_softmax")

    return named(function, name, _SOFTMAX.format(name=name, says=says, example=example))


_SOFTMAX = """{says} along a dim over the values that are there: an absent one counts as -inf and not as 0.

Args:
    input: a sparse tensor
    dim: an axis
    dtype: the values are converted to it first

Returns: a coalesced COO tensor with input's places

Example:
    >>> badak.sparse.{name}(badak.eye(2).to_sparse(), 1).values().tolist()
    [{example}]
"""
softmax = _over_values("softmax", "softmax", "1.0, 1.0")
log_softmax = _over_values("log_softmax", "log of softmax", "0.0, 0.0")


def _sparse(where: str, x: Any) -> SparseTensor:
    if not isinstance(x, SparseTensor):
        found = x.layout if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(tr("{}: expected a sparse tensor; got {}", where, found), "x.to_sparse()")
    return x


def _softmax(input: SparseTensor, dim: int, dtype: Any, log: bool) -> Tensor:
    x: Any = coalesce(to_sparse_coo(input))
    entries = x._entries if dtype is None else x._entries.to(dtype)
    dim, n = axis_of(dim, x.ndim), x._at.shape[0]
    if dim >= n:
        return x.like(entries.log_softmax(dim - n + 1) if log else entries.softmax(dim - n + 1))
    rest = np.delete(x._at._array, dim, 0)
    _, first, number = distinct(rest, [size for d, size in enumerate(x.shape[:n]) if d != dim])
    group, shape = Tensor._of(number), (first.size, *entries.shape[1:])
    wide = group.reshape(-1, *[1] * (entries.ndim - 1)).expand(entries.shape)
    highest = scatter_reduce(entries.new_zeros(shape), 0, wide, entries.detach(), "amax", include_self=False)
    lowered = entries - highest[group]
    raised = lowered.exp()
    total = index_add(entries.new_zeros(shape), 0, group, raised)
    return x.like(lowered - total.log()[group] if log else raised / total[group])
