"""The part of torch.linalg that Transformers use: norms and products, under PyTorch's names."""

from ..errors import ArgumentError, MissingError
from . import products, reduce
from .convert import cast
from .dtypes import to_dtype
from .promote import into
from .shape import diagonal as _diagonal
from .tensor import Tensor

matmul = products.matmul


def vector_norm(x, ord=2, dim=None, keepdim: bool = False, *, dtype=None, out=None) -> Tensor:  # noqa: A002
    """(sum |x|^ord)^(1/ord) over dim, or over all."""
    return reduce.norm(x, float(ord), dim, keepdim, out, dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim: bool = False, *, dtype=None, out=None) -> Tensor:  # noqa: A002, N803
    """Norm of matrices: "fro", or the largest sum of absolute values in a column (1) or a row (inf)."""
    A = A if dtype is None else cast(A, to_dtype(dtype))
    if ord in ("fro", None):
        return reduce.norm(A, 2, dim, keepdim, out)
    if ord in (1, float("inf")):
        rows, columns = (d % A._array.ndim for d in dim)
        first, second = (rows, columns) if ord == 1 else (columns, rows)
        y = reduce.amax(reduce.sum(A.abs(), first, True), second, True)
        return into(out, y if keepdim else y.squeeze(tuple(dim)))
    raise MissingError(
        f"linalg.matrix_norm: ord={ord!r} needs singular values, which badak does not compute", "ord='fro'"
    )


def norm(A, ord=None, dim=None, keepdim: bool = False, *, out=None, dtype=None) -> Tensor:  # noqa: A002, N803
    """vector_norm of order 2 without ord; matrix_norm for "fro" and for two dims; vector_norm otherwise."""
    pair = dim is not None and not isinstance(dim, int) and len(dim) == 2
    if ord is not None and (pair or isinstance(ord, str) or (dim is None and A._array.ndim == 2)):
        return matrix_norm(A, ord, dim if pair else (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)


def multi_dot(tensors, *, out=None) -> Tensor:
    """The product of several matrices, from left to right."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise ArgumentError("multi_dot(): expected at least 2 tensors", None)
    return into(out, products.chain_matmul(*tensors))


def diagonal(A, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """The diagonal of the last two dims; a view."""
    return _diagonal(A, offset, dim1, dim2)
