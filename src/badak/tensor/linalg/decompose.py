"""Matrices taken apart: the functions of torch.linalg over LAPACK, for stacks of matrices."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError, tr
from badak.core.modes import modes
from badak.ops import linalg as ops
from badak.ops.factors import Eig
from badak.tensor import returns
from badak.tensor.apply import apply
from badak.tensor.elementwise import where
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.shape import squeeze, unsqueeze
from badak.tensor.tensor import Tensor
from badak.tensor.triangular import tril, triu


def inv(A: Any, *, out: Any = None) -> Tensor:  # noqa: N803
    """A^-1 of each matrix (..., n, n). Raises LinAlgError for a singular one."""
    return into(out, apply(ops.Inverse, A), exact=True)


def pinv(
    A: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    out: Any = None,
) -> Tensor:  # noqa: N803
    """The pseudo-inverse (..., n, m): singular values below max(atol, rtol * the largest) count as 0.

    hermitian: A is symmetric, and its lower triangle alone is read. `rcond` is an older word for rtol.
    """
    A = mirrored(A) if hermitian else A  # noqa: N806
    if not A._array.size:
        return into(out, A.mH.clone(), exact=True)
    s = svdvals(A.detach())._array
    largest = np.maximum(s.max(axis=-1, initial=0.0), np.finfo(s.dtype).tiny)
    limit = _limit(A._array, s, atol, rtol if rcond is None else rcond)
    return into(out, apply(ops.Pinv, A, rtol=limit / largest), exact=True)


def mirrored(A: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """A's lower (or upper) triangle mirrored at the diagonal: how a symmetric A is read.   dA = sym(dy), as in PyTorch."""
    ops.square("linalg", A._array)
    a = A.detach()
    half, diagonal = triu(a, 1) if upper else tril(a, -1), tril(triu(a))
    y = half + half.mH + (diagonal + diagonal.mH) * 0.5
    if not (modes.grad and A.requires_grad):
        return y
    sym = (A + A.mH) * 0.5
    return y + (sym - sym.detach())  # plus 0, with the gradient of sym


def _limit(a, s, atol, rtol):
    """max(atol, rtol * the largest singular value) of each matrix; rtol is eps * max(m, n) where neither is given."""
    for name, t in (("atol", atol), ("rtol", rtol)):
        if t is not None and not isinstance(t, Tensor | numbers.Real | np.ndarray):
            raise ArgumentTypeError(tr("expected {}, a number or a tensor; got {}", name, type(t).__name__), f"{name}=1e-6")
    absolute, relative = (None if t is None else t._array if isinstance(t, Tensor) else np.asarray(t) for t in (atol, rtol))
    if relative is None:
        eps = np.finfo(s.dtype).eps * max(a.shape[-2:])
        relative = eps if absolute is None else np.where(absolute > 0, 0.0, eps)
    return np.maximum(0.0 if absolute is None else absolute, relative * s.max(axis=-1, initial=0.0))


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """X with A X = B, or X A = B where left=False; B (..., n, k), or (..., n) as a vector for each matrix."""
    vector = B._array.ndim == 1 or B._array.shape == A._array.shape[:-1]
    if vector and not left:
        cause = tr("linalg.solve: Incompatible shapes of A and B for the equation XA = B ({} and {})",
                   "x".join(map(str, A._array.shape)), "x".join(map(str, B._array.shape)))  # fmt: skip
        raise ShapeError(cause, "B.unsqueeze(-2)")
    X = _solved(A, unsqueeze(B, -1) if vector else B, left)  # noqa: N806
    return into(out, squeeze(X, -1) if vector else X, exact=True)


def _solved(A, B, left: bool) -> Tensor:  # noqa: N803
    """X of B (..., n, k), never a vector for each matrix."""
    if not left:
        return _solved(A.mT, B.mT, True).mT
    lead = np.broadcast_shapes(A._array.shape[:-2], B._array.shape[:-2])
    return apply(ops.Solve, A.expand(*lead, *A._array.shape[-2:]), B.expand(*lead, *B._array.shape[-2:]))


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: Any, left: bool = True, unitriangular: bool = False, out: Tensor | None = None
) -> Tensor:  # noqa: N803
    """As `solve` of B (..., n, k), with the upper or lower triangle of A alone; unitriangular: with ones on its diagonal."""
    if B._array.ndim < 2:
        cause = tr("linalg.solve_triangular: B must have at least 2 dims; got {}", list(B._array.shape))
        raise ShapeError(cause, "B.unsqueeze(-1)")
    part = triu(A, int(unitriangular)) if upper else tril(A, -int(unitriangular))
    if unitriangular:
        part = part + Tensor._of(np.eye(A._array.shape[-1], dtype=A._array.dtype))
    return into(out, _solved(part, B, left), exact=True)


def lstsq(input: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:  # noqa: N803, A002
    """(solution, residuals, rank, singular_values): X that makes |A X - B| least, the smallest where there are several.

    driver, as in LAPACK: "gelsy" (the default) gives the rank, "gels" believes that it is full, "gelsd" and "gelss" give
    the singular values too. What is not given is empty. Every driver computes with the pseudo-inverse here.
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        cause = tr("linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss); got {!r}", driver)
        raise ArgumentError(cause, "driver='gelsy'")
    a, b = input._array, B._array
    if a.ndim < 2:
        raise ShapeError("torch.linalg.lstsq: input must have at least 2 dimensions.", "input.unsqueeze(-1)")
    if b.ndim < 1:
        raise ShapeError("torch.linalg.lstsq: other must have at least 1 dimension.", "B.reshape(1)")
    if a.dtype != b.dtype:
        cause = tr("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                   "{} and other's dtype {}", input.dtype.word, B.dtype.word)  # fmt: skip
        raise DTypeError(cause, "B.to(input.dtype)")
    vector = B._array.ndim == input._array.ndim - 1 and B._array.shape == input._array.shape[:-1]
    columns = unsqueeze(B, -1) if vector else B
    if columns._array.ndim < 2 or columns._array.shape[-2] != a.shape[-2]:
        last = -1 if b.ndim == a.ndim - 1 else -2
        raise ShapeError(
            tr("torch.linalg.lstsq: input.size(-2) should match other.size({}); got {} and {}", last, list(a.shape), list(b.shape)),
            "B with a row for each row of A",
        )
    X = matmul(pinv(input, rtol=0.0 if driver == "gels" else rcond), columns)  # noqa: N806
    m, n = input._array.shape[-2:]
    s = svdvals(input.detach())
    rank = Tensor._of(np.asarray((s._array > _limit(input._array, s._array, None, rcond)[..., None]).sum(-1), np.int64))
    residuals = input.new_empty(0, dtype=s.dtype)
    if m > n and (driver == "gels" or (driver in ("gelsd", "gelss") and bool((rank._array == n).all()))):
        residuals = ((matmul(input, X) - columns).abs() ** 2).sum(-2)
    if driver == "gels":
        rank = rank.new_empty(0)
    given = s if driver in ("gelsd", "gelss") else s.new_empty(0)
    return returns.linalg_lstsq(squeeze(X, -1) if vector else X, residuals, rank, given)


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The determinant of each matrix."""
    return into(out, apply(ops.Det, A), exact=True)


def slogdet(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(sign, logabsdet): the determinant as sign exp(logabsdet), where it itself would overflow."""
    return returns.linalg_slogdet(*apply(ops.SlogDet, A))


def logdet(input: Tensor) -> Tensor:  # noqa: A002
    """log det A: nan where the determinant is negative."""
    sign, log = slogdet(input)
    return log + sign.log()


def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """L with A = L L^T, lower triangular (its transpose with upper=True), of a symmetric positive definite A.

    Its lower triangle alone is read, with upper=True its upper one.
    """
    L = apply(ops.Cholesky, mirrored(A, upper))  # noqa: N806
    return into(out, L.mH if upper else L, exact=True)


def qr(A: Tensor, mode: str = "reduced", *, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(Q, R) with A = Q R, Q of orthogonal columns, R upper triangular. mode "reduced", "complete" (Q square) or "r" (Q empty).

    Parity: where Q is square and A is not, neither has a gradient.
    """
    if mode not in ("reduced", "complete", "r"):
        cause = tr("qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'", mode)
        raise ArgumentError(cause, "mode='reduced'")
    Q, R = apply(ops.QR, A, complete=mode == "complete")  # noqa: N806
    return returns.linalg_qr(A.new_empty(0) if mode == "r" else Q, R)


def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(U, S, Vh) with A = U diag(S) Vh, S falling. full_matrices: U (m, m) and Vh (n, n).

    Parity: the gradient needs different singular values; signs of vectors are LAPACK's choice.
    """
    return returns.linalg_svd(*apply(ops.SVD, A, full=bool(full_matrices)))


def svdvals(A: Tensor, *, driver: Any = None, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The singular values, falling."""
    return into(out, apply(ops.SVD, A)[1], exact=True)


def eigh(A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """(eigenvalues, eigenvectors) of a symmetric A: A = V diag(w) V^T, w rising. UPLO: which triangle of A is read."""
    return returns.linalg_eigh(*apply(ops.Eigh, mirrored(A, _upper(UPLO))))


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The eigenvalues of a symmetric A, rising. UPLO: which triangle of A is read."""
    return into(out, apply(ops.Eigh, mirrored(A, _upper(UPLO)))[0], exact=True)


def _upper(UPLO: str) -> bool:  # noqa: N803
    if UPLO not in ("L", "U", "l", "u"):
        raise ArgumentError(tr("Expected UPLO argument to be 'L' or 'U', but got {}", UPLO), "UPLO='L'")
    return UPLO in "Uu"


def eig(A: Tensor, *, out: Tensor | None = None) -> Any:  # noqa: N803
    """(eigenvalues, eigenvectors) of any square A, complex: A V = V diag(w), the columns of V of length 1, largest entry real.

    dA = V^-T (diag(dw) + F o V^T dV, less what turns or stretches a column) V^T, F_ij = 1 / (w_j - w_i)*, for different w.
    Parity: PyTorch refuses the gradient of what depends on how the columns are turned; here it is that of LAPACK's choice.
    """
    return returns.linalg_eig(*apply(Eig, A))


def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The eigenvalues of any square A, complex.   dA = V^-T diag(dw) V^T, for different w."""
    return into(out, eig(A)[0], exact=True)


def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None
) -> Tensor:  # noqa: N803
    """How many singular values are larger than max(atol, rtol * the largest). hermitian: A's lower triangle alone is read.

    `tol` is an older word for atol, with rtol=0.
    """
    if tol is not None:
        atol, rtol = tol, 0.0
    a = mirrored(A)._array if hermitian else A._array
    s = svdvals(Tensor._of(a))._array
    limit = _limit(a, s, atol, rtol)
    return into(out, Tensor._of(np.asarray((s > np.asarray(limit)[..., None]).sum(axis=-1), np.int64)), exact=True)


def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """A multiplied with itself n times; n < 0 of its inverse, n = 0 the identity."""
    ops.square("linalg.matrix_power", A._array)
    if n < 0:
        return matrix_power(inv(A), -n, out=out)
    if not n:
        identity = Tensor._of(np.eye(A._array.shape[-1], dtype=A._array.dtype))
        return into(out, where(Tensor._of(np.zeros((), bool)), A, identity), exact=True)  # A counts, with gradient 0
    square = A
    while n & 1 == 0:
        square, n = matmul(square, square), n >> 1
    made = square
    while n := n >> 1:
        square = matmul(square, square)
        if n & 1:
            made = matmul(made, square)
    return into(out, A.clone() if made is A else made, exact=True)
