"""Products with sparse matrices."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError, expect_kind, tr
from badak.ops.sparse import SampledMm, SparseMm
from badak.tensor import layouts
from badak.tensor.apply import apply
from badak.tensor.index import index_select
from badak.tensor.scatter import scatter_reduce
from badak.tensor.sparse.create import coalesce, to_sparse, to_sparse_coo
from badak.tensor.sparse.layout import CooTensor, SparseTensor, coo, expect_compressed, need_matrix, written
from badak.tensor.tensor import Tensor

_REDUCTIONS = ("sum", "mean", "amax", "amin")


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """A sparse matrix times a dense one, which gives a dense one, or times a sparse one, which gives a sparse one.

    Args:
        mat1: sparse (N, M), or dense where mat2 is sparse
        mat2: (M, P)
        reduce: what is made of the products of a row: "sum", or for a sparse mat1 and a dense mat2 "mean", "amax", "amin"

    Returns: (N, P)

    Raises:
        ShapeError: for sizes that do not fit

    Example:
        >>> badak.sparse.mm(badak.eye(2).to_sparse(), badak.ones(2, 3)).shape
        badak.Size([2, 3])
    """
    _fit("sparse.mm", mat1, mat2)
    if reduce not in _REDUCTIONS:
        raise ArgumentError(tr("sparse.mm: reduce must be one of {}; got {!r}", ", ".join(_REDUCTIONS), reduce), 'reduce="sum"')
    if reduce == "sum":
        return _product(mat1, mat2)
    if not isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
        raise ArgumentError(tr("sparse.mm: reduce={!r} takes a sparse mat1 and a dense mat2", reduce), 'reduce="sum"')
    x: Any = coalesce(to_sparse_coo(mat1))
    terms = x._entries.unsqueeze(1) * index_select(mat2, 0, x._at[1])
    to = x._at[0].unsqueeze(1).expand(terms.shape)
    return scatter_reduce(mat2.new_zeros(mat1.shape[0], mat2.shape[1]), 0, to, terms, reduce, include_self=False)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """input @ other, of which one is sparse: matrices, or a sparse matrix and a vector."""
    if isinstance(input, SparseTensor) and other.ndim == 1 and not isinstance(other, SparseTensor):
        return mv(input, other)
    return mm(input, other)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A sparse matrix times a vector."""
    if vec.ndim != 1 or isinstance(vec, SparseTensor):
        raise ShapeError(tr("mv: expected a dense vector; got {}, {}", tuple(vec.shape), vec.layout), "mm for two matrices")
    return mm(input, vec.unsqueeze(1)).squeeze(1)


def linear(input: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    """input @ weight.T + bias, of a sparse input."""
    made = mm(input, weight.t())
    return made if bias is None else made + bias


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta input + alpha mat1 @ mat2, of a sparse mat1 and dense input and mat2.

    Args:
        input: broadcasts to (N, P)
        mat1: sparse (N, M)
        mat2: (M, P)
        beta: factor of input; at 0 input does not count, whatever it holds
        alpha: factor of the product

    Returns: (N, P)

    Example:
        >>> badak.sparse.addmm(badak.ones(2, 2), badak.eye(2).to_sparse(), badak.ones(2, 2), alpha=2).tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    product = mm(mat1, mat2)
    if isinstance(product, SparseTensor) != isinstance(input, SparseTensor):
        cause = tr("addmm: input and the product must both be dense or sparse; got {}", input.layout)
        raise ArgumentTypeError(cause, "input.to_dense()")
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Tensor:
    """beta input + alpha mat1 @ mat2 at the places of input alone; the rest of the product is not computed.

    Args:
        input: sparse (N, P) of layout sparse_csr
        mat1: dense (N, M)
        mat2: dense (M, P)
        beta: factor of input
        alpha: factor of the product

    Returns: a tensor of layout sparse_csr with input's places

    Example:
        >>> badak.sparse.sampled_addmm(badak.eye(2).to_sparse_csr(), badak.ones(2, 3), badak.ones(3, 2)).values().tolist()
        [4.0, 4.0]
    """
    x = expect_compressed("sampled_addmm", input, layouts.sparse_csr)
    _fit("sampled_addmm", mat1, mat2)
    if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor) or (mat1.shape[0], mat2.shape[1]) != tuple(x.shape):
        cause = tr("sampled_addmm: expected dense matrices whose product has input's shape {}; got {} and {}", tuple(x.shape),
                   tuple(mat1.shape), tuple(mat2.shape))  # fmt: skip
        raise ShapeError(cause, "(N, M) and (M, P)")
    at = to_sparse_coo(x)._at
    product = apply(SampledMm, mat1, mat2.t().contiguous(), at[0], at[1])
    made = x.like(x._entries * beta + product * alpha)
    return made if out is None else written("sampled_addmm", out, made, [input, mat1, mat2, out])


def _fit(where: str, a: Any, b: Any) -> None:
    for x in (a, b):
        expect_kind(x, Tensor, "{}: expected tensors; got {}", "badak.tensor(values)", where)
        if isinstance(x, SparseTensor):
            need_matrix(where, x)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        cause = tr("{}: mat1 and mat2 shapes cannot be multiplied: expected (N, M) and (M, P); got {} and {}", where,
                   tuple(a.shape), tuple(b.shape))  # fmt: skip
        raise ShapeError(cause, "as many columns of the first as rows of the second")
    if a.dtype is not b.dtype:
        cause = tr("{}: expected mat1 and mat2 to have the same dtype; got {} and {}", where, a.dtype, b.dtype)
        raise DTypeError(cause, f"x.to({b.dtype})")


def _product(a: Tensor, b: Tensor) -> Tensor:
    if not isinstance(a, SparseTensor):
        return a @ b if not isinstance(b, SparseTensor) else _product(b.t(), a.t()).t()
    x = to_sparse_coo(a)
    if isinstance(b, SparseTensor):
        made = _of_two(x, coalesce(to_sparse_coo(b)))
        return made if isinstance(a, CooTensor) else to_sparse(made, layout=a.layout)
    return apply(SparseMm, x._entries, b, x._at[0], x._at[1], rows=a.shape[0])


def _of_two(a: CooTensor, b: Any) -> CooTensor:
    """Each entry (i, k) of a meets the entries (k, j) of b, which stand in order."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(b._at._array[0], minlength=b.shape[0]))])
    k = a._at._array[1]
    count = starts[k + 1] - starts[k]
    left = np.repeat(np.arange(k.size), count)
    right = np.arange(left.size) - np.repeat(np.cumsum(count) - count, count) + starts[k][left]
    at = np.stack([a._at._array[0][left], b._at._array[1][right]])
    terms = index_select(a._entries, 0, Tensor._of(left)) * index_select(b._entries, 0, Tensor._of(right))
    return coalesce(coo(Tensor._of(at), terms, (a.shape[0], b.shape[1]), False))  # type: ignore[return-value]
