"""L U and what is solved with it, the exponential of a matrix, factorisations that report instead of raising."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import DTypeError, NotSupportedError, ShapeError, tr
from badak.kernels.reference import matrices
from badak.ops import factors as ops
from badak.ops.linalg import LinAlgError, root, square
from badak.tensor import returns
from badak.tensor.apply import apply
from badak.tensor.elementwise import where
from badak.tensor.layouts import contiguous_format
from badak.tensor.linalg import decompose
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor
from badak.tensor.triangular import tril, triu


def matrix_exp(A: Tensor) -> Tensor:  # noqa: N803
    """exp(A), the sum of A^k / k!, of each matrix.   dA = the upper right quarter of exp([[A^T, dY], [0, A^T]]).

    Source: Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
    """
    return apply(ops.MatrixExp, A)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Tensor | None = None) -> Any:  # noqa: N803
    """(LU, pivots, info): as `lu_factor`; info says which diagonal entry of U is the first 0, counted from 1, or 0."""
    if not pivot:
        raise NotSupportedError("linalg.lu_factor: LU without pivoting is not implemented on the CPU", "pivot=True")
    packed, pivots = apply(ops.LU, A)
    diagonal = np.einsum("...ii->...i", packed._array[..., : pivots.shape[-1], : pivots.shape[-1]])
    found = _first(diagonal == 0)
    if check_errors:
        _raise_zero("linalg.lu_factor_ex", found)
    return returns.linalg_lu_factor_ex(packed, pivots, Tensor._of(found))


def _first(zero) -> np.ndarray:
    """Where the first True of each row is, counted from 1; 0 where there is none."""
    if not zero.shape[-1]:
        return np.zeros(zero.shape[:-1], np.int32)
    return np.where(zero.any(axis=-1), zero.argmax(axis=-1) + 1, 0).astype(np.int32)


def _raise_zero(name: str, info) -> None:
    if info.any():
        at = info[info != 0][0]
        cause = tr("{}: U[{},{}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
                   "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)", name, at,
                   at)  # fmt: skip
        raise LinAlgError(cause, "A + eps I with a small eps")


def lu_factor(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(LU, pivots) with A = P L U: L below the diagonal of LU, its ones left out, U on and above it.

    Row k was exchanged with row pivots[k] - 1. Raises LinAlgError where U has a 0 on its diagonal.
    """
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    _raise_zero("linalg.lu_factor", info._array)
    return returns.linalg_lu_factor(packed, pivots)


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Any:  # noqa: N803
    """(P, L, U) from what `lu_factor` gives; what is not asked for is empty."""
    empty = LU_data.new_empty(0)
    P, L, U = empty, empty, empty  # noqa: N806
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    if unpack_pivots:
        P = _permutation(LU_data, LU_pivots)  # noqa: N806
    if unpack_data:
        L = tril(LU_data[..., :k], -1) + Tensor._of(np.eye(m, k, dtype=LU_data._array.dtype))  # noqa: N806
        U = triu(LU_data[..., :k, :])  # noqa: N806
    return returns.lu_unpack(P, L, U)


def _permutation(packed, pivots) -> Tensor:
    m = packed.shape[-2]
    rows = matrices.order(pivots._array, m)
    return Tensor._of(np.ascontiguousarray(np.eye(m, dtype=packed._array.dtype)[rows].swapaxes(-1, -2)))


def lu(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(P, L, U) with A = P L U: P a permutation, L lower triangular with ones on its diagonal, U upper triangular."""
    packed, pivots, _ = lu_factor_ex(A, pivot=pivot)
    return returns.linalg_lu(*lu_unpack(packed, pivots))


def lu_solve(LU: Any, pivots: Any, B: Any, *, left: Any = True, adjoint: Any = False, out: Any = None) -> Tensor:  # noqa: N803
    """X with A X = B, A as `lu_factor` has taken it apart; X A = B with left=False, A^H instead of A with adjoint=True."""
    square("linalg.lu_solve", LU._array)
    if pivots._array.dtype.kind != "i":
        cause = tr("linalg.lu_solve: pivots should be a Tensor of int32; got {}", pivots.dtype)
        raise DTypeError(cause, "both as lu_factor gave them")
    if pivots.shape != LU.shape[:-1]:
        cause = tr("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix; got {} for {}",
                   tuple(pivots.shape), tuple(LU.shape))  # fmt: skip
        raise ShapeError(cause, "both as lu_factor gave them")
    if not left:
        return into(out, lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH.contiguous(), exact=True)
    P = _permutation(LU, pivots)  # noqa: N806
    if adjoint:
        y = decompose.solve_triangular(LU.mH, B, upper=False)
        y = decompose.solve_triangular(LU.mH, y, upper=True, unitriangular=True)
        return into(out, matmul(P, y), exact=True)
    y = decompose.solve_triangular(LU, matmul(P.mT, B), upper=False, unitriangular=True)
    return into(out, decompose.solve_triangular(LU, y, upper=True), exact=True)


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """X with A X = B, where A = L L^H, or L^H L with upper=True."""
    first, second = (L.mH, L) if upper else (L, L.mH)
    y = decompose.solve_triangular(first, B, upper=False)
    return into(out, decompose.solve_triangular(second, y, upper=True), exact=True)


def cholesky_inverse(L: Any, upper: bool = False, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """A^-1, where A = L L^H, or L^H L with upper=True."""
    one = Tensor._of(np.eye(L.shape[-1], dtype=L._array.dtype))
    return cholesky_solve(one.expand(*L.shape), L, upper, out=out)


def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Any:  # noqa: A002, N803
    """(X, A) with A X = input for a triangular A, transposed first with `transpose`; A is given back."""
    left = A.mT if transpose else A
    X = decompose.solve_triangular(left, input, upper=upper != transpose, unitriangular=unitriangular)  # noqa: N806
    return returns.triangular_solve(X, A.clone(memory_format=contiguous_format))


def _reported(function, A, bad, *others):  # noqa: N803
    """function(A, ...) with NaN for the matrices that are `bad`."""
    if not bad.any():
        return function(A, *others)
    marked = Tensor._of(bad[..., None, None])
    one = Tensor._of(np.eye(A.shape[-1], dtype=A._array.dtype))
    y = function(where(marked, one, A), *others)
    if bad.ndim and y.dim() < bad.ndim + 2:
        marked = marked.squeeze(-1)
    return where(marked if bad.ndim else Tensor._of(bad), y.new_full((), float("nan")), y)


def _singular(A) -> np.ndarray:  # noqa: N803
    packed, _ = matrices.lu(A._array)
    return _first(np.einsum("...ii->...i", packed) == 0)


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(A^-1, info): as `inv`; NaN and info > 0 for a singular matrix, for which `inv` raises."""
    square("linalg.inv", A._array)
    info = _singular(A)
    if check_errors:
        return returns.linalg_inv_ex(decompose.inv(A), Tensor._of(info))
    return returns.linalg_inv_ex(_reported(decompose.inv, A, info > 0), Tensor._of(info))


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Tensor | None = None) -> Any:  # noqa: N803
    """(X, info): as `solve`; NaN and info > 0 for a singular matrix, for which `solve` raises."""
    square("linalg.solve", A._array)
    info = _singular(A)
    bad = info > 0 if not check_errors else np.zeros(info.shape, bool)
    return returns.linalg_solve_ex(_reported(lambda a, b: decompose.solve(a, b, left=left), A, bad, B), Tensor._of(info))


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(L, info): as `cholesky`; NaN and info > 0, the first order whose determinant is not positive, for which it raises."""
    square("linalg.cholesky", A._array)
    if check_errors:
        return returns.linalg_cholesky_ex(decompose.cholesky(A, upper=upper), Tensor._of(np.zeros(A.shape[:-2], np.int32)))
    info = _not_positive(decompose.mirrored(A.detach(), upper)._array)
    made = _reported(lambda a: decompose.cholesky(a, upper=upper), A, info > 0)
    return returns.linalg_cholesky_ex(made, Tensor._of(info))


def _not_positive(a) -> np.ndarray:
    """The first leading part, counted from 1, of each matrix that has no Cholesky factor; 0 where all have one."""
    try:
        root(a)
        return np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        found = np.zeros(a.shape[:-2], np.int32)
        for at in np.ndindex(found.shape):
            found[at] = next((k for k in range(1, a.shape[-1] + 1) if not _has_root(a[at][:k, :k])), 0)
        return found


def _has_root(a) -> bool:
    try:
        root(a)
    except np.linalg.LinAlgError:
        return False
    return True


def older_lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Tensor | None = None) -> tuple:  # noqa: N803
    """(LU, pivots), with get_infos (LU, pivots, infos): as linalg.lu_factor_ex. The method x.lu, too."""
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    return (packed, pivots, info) if get_infos else (packed, pivots)


def older_lu_solve(b: Any, LU_data: Any, LU_pivots: Any, *, out: Tensor | None = None) -> Tensor:
    """As linalg.lu_solve, with the right side first."""
    return lu_solve(LU_data, LU_pivots, b, out=out)
