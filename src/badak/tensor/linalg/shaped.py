"""Equations between tensors as between matrices; powers side by side; factorisations of low rank."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.tensor.concat import cat
from badak.tensor.linalg import decompose
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.random import randn
from badak.tensor.reduce import cumprod
from badak.tensor.shape import movedim
from badak.tensor.tensor import Tensor


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """X with tensordot(A, X, X.ndim) = B: A (B's sizes, then X's), after its `dims` have been moved to its end."""
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))  # noqa: N806
    rest = A.shape[B.dim() :]
    if math.prod(rest) != B.numel():
        cause = tr("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
                   "got {} != {}", math.prod(rest), B.numel())  # fmt: skip
        raise ShapeError(cause, "A with as many numbers along its last dims as B has")
    X = decompose.solve(A.reshape(B.numel(), B.numel()), B.reshape(-1))  # noqa: N806
    return into(out, X.reshape(*rest), exact=True)


def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:  # noqa: N803
    """The inverse of A as a map from its last dims to its first `ind` ones: (last sizes, first sizes)."""
    if ind <= 0:
        raise ArgumentError(tr("Expected a strictly positive integer for 'ind', but got {}", ind), "ind=2")
    first, last = A.shape[:ind], A.shape[ind:]
    if math.prod(first) != math.prod(last):
        cause = tr("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {} != {}",
                   math.prod(last), math.prod(first))  # fmt: skip
        raise ShapeError(cause, "A.reshape so that the first `ind` dims hold as many numbers as the others")
    return into(out, decompose.inv(A.reshape(math.prod(first), math.prod(last))).reshape(*last, *first), exact=True)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:  # noqa: N803
    """The powers of each entry of x (..., n), 0 to N - 1, in a new last dim; N = n unless given."""
    x = x if x.dim() else x.unsqueeze(0)
    n = x.shape[-1] if N is None else N
    if n <= 1 and N is not None:
        raise ArgumentError(tr("N must be greater than 1; got {}", N), "N=2")
    powers = x.unsqueeze(-1).expand(*x.shape, max(n - 1, 0))
    ones = x.new_ones((*x.shape, 1))
    return cat([ones, cumprod(powers, -1).to(x.dtype)], -1) if n else x.new_ones((*x.shape, 0))


def older_vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """The powers of each entry of x (n,), N - 1 to 0, or 0 to N - 1 where `increasing`, in a new last dim."""
    if x.dim() != 1:
        raise ShapeError(tr("torch.vander: x must be a one-dimensional tensor; got {}", tuple(x.shape)), "linalg.vander")
    n = x.shape[0] if N is None else N
    y = x.new_ones((x.shape[0], n)) if n < 2 else vander(x, N=n)
    return y if increasing else y.flip(1)


def svd_lowrank(A: Tensor, q: Any = 6, niter: Any = 2, M: Tensor | None = None) -> tuple:  # noqa: N803
    """(U, S, V) with A - M nearly U diag(S) V^H, of rank q: from what A makes of q random vectors, `niter` times more exact.

    Source: Halko, Martinsson and Tropp 2011, "Finding structure with randomness", algorithms 4.4 and 5.1.
    """
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    A = A if M is None else A - M  # noqa: N806
    turned = m < n
    if turned:
        A = A.mH  # noqa: N806
    Q = _range(A, q, niter)  # noqa: N806
    U, S, Vh = decompose.svd(matmul(Q.mH, A), full_matrices=False)  # noqa: N806
    U, V = matmul(Q, U), Vh.mH  # noqa: N806
    return (V, S, U) if turned else (U, S, V)


def _range(A: Tensor, q: int, niter: int) -> Tensor:  # noqa: N803
    """Q (m, q) with orthogonal columns, in whose span nearly all of A lies."""
    R = randn(A.shape[-1], q, dtype=A.dtype, device=A.device)  # noqa: N806
    X = decompose.qr(matmul(A, R))[0]  # noqa: N806
    for _ in range(niter):
        X = decompose.qr(matmul(A.mH, X))[0]  # noqa: N806
        X = decompose.qr(matmul(A, X))[0]  # noqa: N806
    return X


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:  # noqa: N803
    """(U, S, V): `svd_lowrank` of A, with `center` of A less the means of its columns; q = min(6, m, n) unless given."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ArgumentError(tr("q(={}) must be non-negative integer and not greater than min(m, n)={}", q, min(m, n)), "q=2")
    if niter < 0:
        raise ArgumentError(tr("niter(={}) must be non-negative integer", niter), "niter=2")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
