"""torch.linalg: norms and products here, matrices taken apart in `decompose.py`."""

from badak.errors import ArgumentError, MissingError
from badak.ops.linalg import LinAlgError as LinAlgError
from badak.tensor import products, reduce
from badak.tensor.convert import cast
from badak.tensor.decompose import cholesky as cholesky
from badak.tensor.decompose import cond as cond
from badak.tensor.decompose import cross as cross
from badak.tensor.decompose import det as det
from badak.tensor.decompose import eig as eig
from badak.tensor.decompose import eigh as eigh
from badak.tensor.decompose import eigvals as eigvals
from badak.tensor.decompose import eigvalsh as eigvalsh
from badak.tensor.decompose import inv as inv
from badak.tensor.decompose import lstsq as lstsq
from badak.tensor.decompose import matrix_power as matrix_power
from badak.tensor.decompose import matrix_rank as matrix_rank
from badak.tensor.decompose import pinv as pinv
from badak.tensor.decompose import qr as qr
from badak.tensor.decompose import slogdet as slogdet
from badak.tensor.decompose import solve as solve
from badak.tensor.decompose import solve_triangular as solve_triangular
from badak.tensor.decompose import svd as svd
from badak.tensor.decompose import svdvals as svdvals
from badak.tensor.decompose import vecdot as vecdot
from badak.tensor.dtypes import to_dtype
from badak.tensor.promote import into
from badak.tensor.shape import diagonal as _diagonal
from badak.tensor.tensor import Tensor

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "LinAlgError",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]

matmul = products.matmul


def vector_norm(x, ord=2, dim=None, keepdim: bool = False, *, dtype=None, out=None) -> Tensor:  # noqa: A002
    """(sum |x|^ord)^(1/ord) over dim, or over all."""
    return reduce.norm(x, float(ord), dim, keepdim, out, dtype)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim: bool = False, *, dtype=None, out=None) -> Tensor:  # noqa: A002, N803
    """Norm of matrices: "fro"; the largest sum of absolute values in a column (1) or a row (inf); of singular values the
    largest (2), smallest (-2) or sum ("nuc")."""
    A = A if dtype is None else cast(A, to_dtype(dtype))
    if ord in ("fro", None):
        return reduce.norm(A, 2, dim, keepdim, out)
    if ord in (1, float("inf")):
        rows, columns = (d % A._array.ndim for d in dim)
        first, second = (rows, columns) if ord == 1 else (columns, rows)
        y = reduce.amax(reduce.sum(A.abs(), first, True), second, True)
        return into(out, y if keepdim else y.squeeze(tuple(dim)))
    if ord in (2, -2, "nuc") and tuple(d % A._array.ndim for d in dim) == (A._array.ndim - 2, A._array.ndim - 1):
        s = svdvals(A)
        y = s.sum(-1) if ord == "nuc" else reduce.amax(s, -1) if ord == 2 else reduce.amin(s, -1)
        return into(out, y.unsqueeze(-1).unsqueeze(-1) if keepdim else y)
    raise MissingError(f"linalg.matrix_norm: ord={ord!r} is not there", "ord='fro', 'nuc', 1, inf, 2 or -2")


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
