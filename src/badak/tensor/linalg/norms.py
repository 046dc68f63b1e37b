"""Norms of vectors and matrices, distances, and the condition of a matrix."""

from collections.abc import Sequence
from math import inf, nan
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.ops._check import axis_of
from badak.tensor import reduce
from badak.tensor.arithmetic import div, mul, sub
from badak.tensor.concat import cat
from badak.tensor.convert import cast
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.dtypes import to_dtype
from badak.tensor.elementwise import where
from badak.tensor.linalg.decompose import svdvals
from badak.tensor.linalg.factors import inv_ex
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.shape import movedim, unsqueeze
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:  # noqa: A002
    """(sum |x|^ord)^(1/ord) over dim, or over all."""
    if (ord < 0 or ord == inf) and 0 in x._array.shape:
        empty = [] if dim is None else [d for d in ([dim] if isinstance(dim, int) else dim) if not x.size(d)]
        if dim is None or empty:
            where = tr("an empty tensor") if dim is None else tr("the dimension {} because this dimension is empty and", empty[0])
            cause = tr("linalg.vector_norm cannot compute the {} norm on {} {}the operation does not have an identity", ord, where,
                       tr("because ") if dim is None else "")  # fmt: skip
            raise IndexOutOfRangeError(cause, "ord=2")
    return reduce.norm(x, float(ord), dim, keepdim, out, dtype)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: int | Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:  # noqa: A002, N803
    """Norm of matrices: "fro"; the largest (smallest) sum of absolute values in a column (1, -1) or a row (inf, -inf);
    of singular values the largest (2), smallest (-2) or sum ("nuc")."""
    A = A if dtype is None else cast(A, to_dtype(dtype))
    if A._array.ndim < 2:
        raise ShapeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.", "linalg.vector_norm(x)")
    if A._array.dtype.kind in "iub":
        cause = tr("linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {}", A.dtype.word)
        raise DTypeError(cause, "A.float()")
    dim = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dim) != 2:
        raise ArgumentError(tr("linalg.matrix_norm: dim must be a 2-tuple. Got {}", " ".join(map(str, dim))), "dim=(-2, -1)")
    rows, columns = (axis_of(d, A._array.ndim) for d in dim)
    if rows == columns:
        raise ArgumentError(tr("linalg.matrix_norm: dims must be different. Got ({}, {})", rows, columns), "dim=(-2, -1)")
    if ord in ("fro", None):
        return reduce.norm(A, 2, dim, keepdim, out)
    if ord in (1, inf, 2) and 0 in (A._array.shape[rows], A._array.shape[columns]):
        y = reduce.sum(A.abs(), (rows, columns), True)  # 0
    elif ord in (1, -1, inf, -inf):
        first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
        y = (reduce.amax if ord > 0 else reduce.amin)(reduce.sum(A.abs(), first, True), second, True)
    elif ord in (2, -2, "nuc"):
        s = svdvals(movedim(A, (rows, columns), (-2, -1)))
        y = s.sum(-1) if ord == "nuc" else reduce.amax(s, -1) if ord == 2 else reduce.amin(s, -1)
        for d in sorted((rows, columns)):
            y = unsqueeze(y, d)
    else:
        raise ArgumentError(tr("linalg.matrix_norm: Order {} not supported", ord), "ord='fro', 'nuc', 1, -1, inf, -inf, 2 or -2")
    return into(out, y if keepdim else y.squeeze((rows, columns)), exact=True)


def norm(
    A: Any,
    ord: Any = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
    dtype: DType | None = None,
) -> Tensor:  # noqa: A002, N803
    """vector_norm of order 2 without ord; matrix_norm for "fro" and for two dims; vector_norm otherwise."""
    pair = dim is not None and not isinstance(dim, int) and len(dim) == 2
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2):
        cause = tr("linalg.norm: If dim is specified, it must be of length 1 or 2. Got {}", list(dim))
        raise ArgumentError(cause, "linalg.vector_norm")
    if dim is None and ord is not None and A._array.ndim not in (1, 2):
        cause = tr("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.", A._array.ndim)
        raise ShapeError(cause, "linalg.vector_norm, or linalg.matrix_norm")
    if ord is not None and (pair or isinstance(ord, str) or (dim is None and A._array.ndim == 2)):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)


def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """sqrt(sum |x|^2) over dim, an int or several; over all where none are named."""
    return reduce.norm(input, 2.0, None if not isinstance(dim, int) and not len(dim) else dim, keepdim, out)


def nuclear_norm(
    input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The sum of the singular values of matrices, which lie in two dims: the two of a matrix where none are named."""
    if isinstance(dim, bool):  # nuclear_norm(A, keepdim)
        return nuclear_norm(input, None, dim, out=out)
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, out=out)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:  # noqa: A002
    """The norm of order pow of each slice of v along dim, in v's shape with 1 in place of the other sizes; of all for dim=-1."""
    if dim == -1:
        return reduce.norm(v, float(pow))
    dim = axis_of(dim, v._array.ndim)
    others = [axis for axis in range(v._array.ndim) if axis != dim]
    return reduce.norm(v, float(pow), others, True) if others else v.abs()


_MM = "use_mm_for_euclid_dist"
_MODES = (f"{_MM}_if_necessary", _MM, f"donot_{_MM}")  # the first where there are more than 25 rows, as in PyTorch


@in_float32
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = _MODES[0]) -> Tensor:
    """y[..., i, j] = |x1[..., i, :] - x2[..., j, :]|_p, of many rows by |a|^2 - 2 a b + |b|^2, which needs no (i, j, k) numbers.

    Args:
        x1: (..., P, M)
        x2: (..., R, M)
        p: of the norm
        compute_mode: whether p=2 goes by a matrix product, which rounds differently and is faster

    Returns: tensor (..., P, R)

    Raises:
        ArgumentError: for p below 0, or a mode that is none

    Example:
        >>> badak.cdist(badak.tensor([[0.0, 0.0]]), badak.tensor([[3.0, 4.0]])).tolist()
        [[5.0]]
    """
    if x1._array.shape[-1] != x2._array.shape[-1]:
        cause = tr("X1 and X2 must have the same number of columns. X1: {} X2: {}", x1._array.shape[-1], x2._array.shape[-1])
        raise ShapeError(cause, None)
    if not p >= 0:
        raise ArgumentError(tr("cdist only supports non-negative p values; got {}", p), "p=2.0")
    if compute_mode not in (None, *_MODES):
        raise ArgumentError(tr("{} is not a valid value for compute_mode", compute_mode), repr(_MODES[0]))
    many = max(x1._array.shape[-2], x2._array.shape[-2]) > 25
    if p == 2 and (compute_mode == _MM or (many and compute_mode in (None, _MODES[0]))):
        return _by_product(x1, x2)
    return reduce.norm(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), p, dim=-1)


def _by_product(x1: Tensor, x2: Tensor) -> Tensor:
    """Euclidean distances; where two rows are the same the gradient is 0."""
    ones1, ones2 = (x.new_ones((*x._array.shape[:-1], 1)) for x in (x1, x2))
    left = cat([mul(x1, -2.0), reduce.sum(mul(x1, x1), -1, True), ones1], -1)
    right = cat([x2, ones2, reduce.sum(mul(x2, x2), -1, True)], -1)
    squares = matmul(left, right.mT)
    same = squares <= 0
    return where(same, 0.0, where(same, 1.0, squares).sqrt())


def cond(A: Any, p: Any = None, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The largest singular value divided by the smallest (p=None or 2), the reverse (-2), or |A|_p |A^-1|_p of a matrix norm p."""
    if p not in (None, 1, -1, 2, -2, inf, -inf, "fro", "nuc"):
        raise ArgumentError(tr("linalg.cond got an invalid norm type: {}", p), "p=None, 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc'")
    rows, columns = A._array.shape[-2:]
    if p in (None, 2, -2):
        if not rows or not columns:
            return into(out, A.new_zeros(A.shape[:-2], dtype=svdvals(A).dtype), exact=True)
        s = svdvals(A)
        return into(out, div(s[..., -1], s[..., 0]) if p == -2 else div(s[..., 0], s[..., -1]), exact=True)
    if rows != columns:
        cause = tr("linalg.cond(ord={}): A must be batches of square matrices, but they are {} by {} matrices", p, rows, columns)
        raise ShapeError(cause, "p=2")
    if not rows:
        return into(out, matrix_norm(A, "fro"), exact=True)
    inverse, info = inv_ex(A)
    singular = info != 0
    y = mul(matrix_norm(A, p), matrix_norm(inverse.masked_fill(singular[..., None, None], 0), p))
    return into(out, y.masked_fill(singular, nan if p == "nuc" else inf), exact=True)  # as in PyTorch
