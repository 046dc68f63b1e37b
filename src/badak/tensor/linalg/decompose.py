"""Matrices taken apart: the functions of torch.linalg over LAPACK, for stacks of real matrices."""

import numpy as np

from badak.errors import ArgumentError
from badak.ops import linalg as ops
from badak.tensor import returns
from badak.tensor.apply import apply
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.shape import squeeze, unsqueeze
from badak.tensor.tensor import Tensor
from badak.tensor.triangles import tril, triu


def inv(A, *, out=None) -> Tensor:  # noqa: N803
    """A^-1 of each matrix (..., n, n). Raises LinAlgError for a singular one."""
    return into(out, apply(ops.Inverse, A))


def pinv(A, *, atol=None, rtol=None, hermitian=False, out=None) -> Tensor:  # noqa: N803
    """The pseudo-inverse (..., n, m): singular values below max(atol, rtol * the largest) count as 0."""
    eps = np.finfo(A._array.dtype).eps * max(A._array.shape[-2:]) if A._array.dtype.kind == "f" else 0
    relative = (eps if not atol else 0.0) if rtol is None else float(rtol)
    if atol:
        largest = np.linalg.svd(A._array, compute_uv=False).max(initial=0.0)
        relative = max(relative, float(atol) / largest) if largest else relative
    return into(out, apply(ops.Pinv, A, rtol=relative))


def solve(A, B, *, left=True, out=None) -> Tensor:  # noqa: N803
    """X with A X = B, or X A = B where left=False; B (..., n, k), or (..., n) as a vector for each matrix."""
    if not left:
        return into(out, solve(A.mT, B.mT).mT)
    vector = B._array.ndim == 1 or B._array.shape == A._array.shape[:-1]
    columns = unsqueeze(B, -1) if vector else B
    lead = np.broadcast_shapes(A._array.shape[:-2], columns._array.shape[:-2])
    A = A.expand(*lead, *A._array.shape[-2:])  # noqa: N806
    columns = columns.expand(*lead, *columns._array.shape[-2:])
    X = apply(ops.Solve, A, columns)  # noqa: N806
    return into(out, squeeze(X, -1) if vector else X)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None) -> Tensor:  # noqa: N803
    """As `solve`, with the upper or lower triangle of A alone; unitriangular: with ones on its diagonal."""
    part = triu(A, int(unitriangular)) if upper else tril(A, -int(unitriangular))
    if unitriangular:
        part = part + Tensor._of(np.eye(A._array.shape[-1], dtype=A._array.dtype))
    return solve(part, B, left=left, out=out)


def lstsq(input, B, rcond=None, *, driver=None):  # noqa: N803, A002
    """(solution, residuals, rank, singular_values): X that makes |A X - B| least, the smallest where there are several."""
    X = matmul(pinv(input, rtol=rcond), B)  # noqa: N806
    rank = matrix_rank(input)
    m, n = input._array.shape[-2:]
    full = m > n and bool((rank._array == n).all())
    residuals = ((matmul(input, X) - B) ** 2).sum(-2) if full else input.new_empty(0)
    return returns.linalg_lstsq(X, residuals, rank, input.new_empty(0))


def det(A, *, out=None) -> Tensor:  # noqa: N803
    """The determinant of each matrix."""
    return into(out, apply(ops.Det, A))


def slogdet(A, *, out=None):  # noqa: N803
    """(sign, logabsdet): the determinant as sign exp(logabsdet), where it itself would overflow."""
    return returns.linalg_slogdet(*apply(ops.SlogDet, A))


def logdet(input) -> Tensor:  # noqa: A002
    """log det A: nan where the determinant is negative."""
    sign, log = slogdet(input)
    return log + Tensor._of(np.where(sign._array < 0, np.nan, 0).astype(log._array.dtype))


def cholesky(A, *, upper=False, out=None) -> Tensor:  # noqa: N803
    """L with A = L L^T, lower triangular (its transpose with upper=True), of a symmetric positive definite A.

    Parity: A is read as (A + A^T) / 2, by PyTorch its lower triangle alone: the same for a symmetric A.
    """
    made = apply(ops.Cholesky, A)
    return into(out, made.mT if upper else made)


def qr(A, mode="reduced", *, out=None):  # noqa: N803
    """(Q, R) with A = Q R, Q of orthogonal columns, R upper triangular. mode "reduced" or "r" (Q empty).

    Parity: mode "complete" is not there.
    """
    if mode not in ("reduced", "r"):
        raise ArgumentError(f"linalg.qr: expected mode 'reduced' or 'r'; got {mode!r}", "mode='reduced'")
    Q, R = apply(ops.QR, A)  # noqa: N806
    return returns.linalg_qr(Q if mode == "reduced" else A.new_empty(0), R)


def svd(A, full_matrices=True, *, driver=None, out=None):  # noqa: N803
    """(U, S, Vh) with A = U diag(S) Vh, S falling. full_matrices: U (m, m) and Vh (n, n), without gradient where they grow.

    Parity: the gradient needs different singular values; signs of vectors are LAPACK's choice.
    """
    m, n = A._array.shape[-2:]
    if full_matrices and m != n:
        made = np.linalg.svd(A._array)
        return returns.linalg_svd(*(Tensor._of(part) for part in made))
    return returns.linalg_svd(*apply(ops.SVD, A))


def svdvals(A, *, driver=None, out=None) -> Tensor:  # noqa: N803
    """The singular values, falling."""
    return into(out, apply(ops.SVD, A)[1])


def eigh(A, UPLO="L", *, out=None):  # noqa: N803
    """(eigenvalues, eigenvectors) of a symmetric A: A = V diag(w) V^T, w rising. A is read as (A + A^T) / 2."""
    return returns.linalg_eigh(*apply(ops.Eigh, A))


def eigvalsh(A, UPLO="L", *, out=None) -> Tensor:  # noqa: N803
    """The eigenvalues of a symmetric A, rising."""
    return into(out, apply(ops.Eigh, A)[0])


def eig(A, *, out=None):  # noqa: N803
    """(eigenvalues, eigenvectors) of any square A, complex; without gradient."""
    ops.square("linalg.eig", A._array)
    kind = np.complex64 if A._array.dtype in (np.float32, np.complex64) else np.complex128
    return returns.linalg_eig(*(Tensor._of(part.astype(kind)) for part in np.linalg.eig(A._array)))


def eigvals(A, *, out=None) -> Tensor:  # noqa: N803
    """The eigenvalues of any square A, complex; without gradient."""
    return into(out, eig(A)[0])


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False, out=None) -> Tensor:  # noqa: N803
    """How many singular values are larger than max(atol, rtol * the largest)."""
    s = np.linalg.svd(A._array, compute_uv=False)
    eps = np.finfo(A._array.dtype).eps * max(A._array.shape[-2:])
    relative = (eps if not atol else 0.0) if rtol is None else float(rtol)
    limit = np.maximum(float(atol or 0.0), relative * s.max(axis=-1, initial=0.0))
    return into(out, Tensor._of(np.asarray((s > limit[..., None]).sum(axis=-1), np.int64)))


def matrix_power(A, n, *, out=None) -> Tensor:  # noqa: N803
    """A multiplied with itself n times; n < 0 of its inverse, n = 0 the identity."""
    ops.square("linalg.matrix_power", A._array)
    if n < 0:
        return matrix_power(inv(A), -n, out=out)
    identity = np.eye(A._array.shape[-1], dtype=A._array.dtype)
    made = Tensor._of(np.broadcast_to(identity, A._array.shape).copy())
    square = A
    while n:
        if n & 1:
            made = matmul(made, square)
        n >>= 1
        square = matmul(square, square) if n else square
    return into(out, made)
