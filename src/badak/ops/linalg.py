"""Matrices taken apart: inverse, solution, determinant, and the factorisations of LAPACK, with their gradients.

A (..., n, n) or (..., m, n); leading axes are a stack of matrices. X^T is the transpose of the last two axes, for complex
numbers conjugated.
Source of the gradients: Giles 2008, "An extended collection of matrix derivative results"; Seeger et al. 2017 for QR;
Townsend 2016, "Differentiating the singular value decomposition".
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, GraphError, ShapeError, tr
from badak.kernels.memory_format import row_major
from badak.kernels.reference import matrices
from badak.ops._broadcast import quiet, zeros
from badak.ops._check import WORDS
from badak.ops._complex import analytic, conj
from badak.ops.batching import stacked
from badak.ops.op import NotRecordable, Op


class LinAlgError(ArgumentError):
    """A matrix that has no inverse, or is not positive definite."""


class OfMatrices:
    """Flags of what LAPACK computes of each matrix of a stack, infinities and NaN in silence."""

    portable: str | None = ""
    batching: Callable[..., Any] | None = staticmethod(stacked)

    def __init_subclass__(cls) -> None:
        for name in {"forward", "backward"} & set(vars(cls)):
            setattr(cls, name, staticmethod(quiet(getattr(cls, name))))
        super().__init_subclass__()


class Inverse(OfMatrices, Op):
    """Y = A^-1;   dA = -Y^T dY Y^T."""

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> np.ndarray:
        square("linalg.inv", a)
        save.y = _try(np.linalg.inv, "linalg.inv", a)
        return save.y

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        t = _t(saved.y)
        return -(t @ dy @ t)


class Solve(OfMatrices, Op):
    """X = A^-1 B;   dB = A^-T dX, dA = -dB X^T."""

    saved_outputs = {"x": 0}

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        square("linalg.solve", a)
        if b.shape[:-1] != a.shape[:-1]:
            cause = tr("linalg.solve: Incompatible shapes of A and B for the equation AX = B: {} and {}", a.shape, b.shape)
            raise ShapeError(cause, None)
        save.a, save.x = a, _try(np.linalg.solve, "linalg.solve", a, b)
        return save.x

    @staticmethod
    def backward(saved: Any, dx: np.ndarray) -> tuple:
        db = _try(np.linalg.solve, "linalg.solve", _t(saved.a), dx)
        return -(db @ _t(saved.x)), db


class Pinv(OfMatrices, Op):
    """Y = A^+;   dA = -Y^T dY Y^T + (I - A Y) dY^T Y Y^T + Y^T Y dY^T (I - Y A), the rank being constant."""

    @staticmethod
    def forward(save: Any, a: np.ndarray, rtol: np.ndarray | float) -> np.ndarray:
        _floating("linalg.pinv", a)
        save.a, save.y = a, _try(finite(partial(np.linalg.pinv, rcond=rtol)), "linalg.svd", a).astype(a.dtype, copy=False)
        return save.y

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        a, y = saved.a, saved.y
        t, dt = _t(y), _t(dy)
        left, right = np.eye(a.shape[-2], dtype=a.dtype) - a @ y, np.eye(a.shape[-1], dtype=a.dtype) - y @ a
        return -(t @ dy @ t) + left @ dt @ y @ t + t @ y @ dt @ right


class Det(OfMatrices, Op):
    """y = det A;   dA = dy cofactors(A). With A = U diag(s) V^T: det(U V^T) U diag(prod of the other s) V^T, also where y = 0."""

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> np.ndarray:
        square("linalg.det", a)
        save.a = a
        y = np.linalg.det(a)
        if (y == 0).any():  # NumPy takes a pivot that is NaN for 0
            y = np.where(np.isnan(a).any((-2, -1)), np.nan, y)
        return np.asarray(y, a.dtype)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> np.ndarray:
        known = np.isfinite(saved.a).all((-2, -1), keepdims=True)
        u, s, vh = np.linalg.svd(np.where(known, saved.a, np.zeros((), saved.a.dtype)))
        u = np.where(known, u, np.nan)
        n = s.shape[-1]
        others = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(axis=-1)
        sign = conj(np.linalg.det(u) * np.linalg.det(vh))
        return (dy * sign)[..., None, None] * ((u * others[..., None, :]) @ vh).astype(saved.a.dtype, copy=False)

    @staticmethod
    @analytic
    def double_backward(saved: Any, dy: Any) -> Any:
        """dA = dy det(A) A^-T, for A that has an inverse."""
        return (dy * Det.of(saved.a))[..., None, None] * np.linalg.inv(saved.a).swapaxes(-1, -2)


class SlogDet(OfMatrices, Op):
    """sign, log|det A|;   dA = (dlog + i Im(dsign sign*)) A^-T: the sign of a complex determinant turns, a real one jumps."""

    name = "slogdet"
    saved_constants = ("sign",)

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> tuple:
        square("linalg.slogdet", a)
        save.a = a
        sign, log = np.linalg.slogdet(a)
        if np.isneginf(log).any():  # NumPy takes a pivot that is NaN for 0
            log = np.where(np.isnan(a).any((-2, -1)), np.nan, log)
        save.sign = np.asarray(sign, a.dtype)
        return save.sign, np.asarray(log, a.real.dtype)

    @staticmethod
    def backward(saved: Any, dsign: np.ndarray | None, dlog: np.ndarray | None) -> np.ndarray:
        a = saved.a
        g = np.zeros(a.shape[:-2], a.dtype) if dlog is None else dlog
        if dsign is not None and a.dtype.kind == "c":
            g = g + 1j * (dsign * saved.sign.conj()).imag
        return (g[..., None, None] * _t(_try(np.linalg.inv, "linalg.slogdet", a))).astype(a.dtype, copy=False)

    @staticmethod
    def double_backward(saved: Any, dsign: Any, dlog: Any) -> Any:
        if saved.a.dtype.kind == "c":
            raise NotRecordable("a complex sign")
        if dlog is None:
            return zeros(saved.a.shape, saved.a)
        return dlog[..., None, None] * np.linalg.inv(saved.a).swapaxes(-1, -2)


def finite(function: Callable) -> Callable:
    """A function of matrices that refuses infinities and NaN: LAPACK may never end for them."""

    def checked(a: Any) -> Any:
        if not np.isfinite(a).all():
            raise np.linalg.LinAlgError
        return function(a)

    return checked


def root(a: np.ndarray) -> np.ndarray:
    """The Cholesky factor; an error of NumPy's also for NaN, for which NumPy gives NaN."""
    factor = np.linalg.cholesky(a)
    if np.isnan(np.einsum("...ii->...i", factor)).any():
        raise np.linalg.LinAlgError
    return factor


class Cholesky(OfMatrices, Op):
    """A = L L^T of a symmetric positive definite A, read as (A + A^T) / 2;   dA = sym(L^-T P(L^T dL) L^-1),

    P(M) = the lower triangle of M with half of its diagonal.
    """

    saved_outputs = {"l": 0}

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> np.ndarray:
        square("linalg.cholesky", a)
        save.l = _try(root, "linalg.cholesky", (a + _t(a)) / 2)
        return save.l

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> np.ndarray:
        factor = saved.l
        inner = np.tril(_t(factor) @ dy) * (1 - np.eye(factor.shape[-1], dtype=factor.dtype) / 2)
        inverse = np.linalg.inv(factor)
        return _symmetric(_t(inverse) @ inner @ inverse)


class QR(OfMatrices, Op):
    """A = Q R, Q (m, k) with orthogonal columns, R (k, n) upper triangular, k = min(m, n); with `complete` k = m.

    For m >= n:   dA = (dQ + Q sym(M)) R^-T, M = R dR^T - dQ^T Q, sym(M) = its lower triangle on both sides.
    For m < n the first m columns of A, X, give Q and R's first m columns; the others are Y = Q V:   dY = Q dV, and
    dQ gets Y dV^T more.
    """

    saved_outputs = {"q": 0, "r": 1}

    @staticmethod
    def forward(save: Any, a: np.ndarray, complete: bool = False) -> tuple:
        _floating("linalg.qr", a)
        save.a = a
        save.q, save.r = map(row_major, np.linalg.qr(a, mode="complete" if complete else "reduced"))
        return save.q, save.r

    @staticmethod
    def backward(saved: Any, dq: Any, dr: Any) -> Any:
        q, r, m = saved.q, saved.r, saved.q.shape[-2]
        if r.shape[-2] > r.shape[-1]:
            raise GraphError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.", "mode='reduced'")
        dq = np.zeros_like(q) if dq is None else dq
        dr = np.zeros_like(r) if dr is None else dr
        if m >= r.shape[-1]:
            return _qr_backward(dq, dr, q, r)
        dv = dr[..., m:]
        dx = _qr_backward(dq + saved.a[..., m:] @ _t(dv), dr[..., :m], q, r[..., :m])
        return np.concatenate([dx, q @ dv], -1)


def _qr_backward(dq: Any, dr: Any, q: Any, r: Any) -> Any:
    m = r @ _t(dr) - _t(dq) @ q
    lower = np.tril(m, -1)
    sym = lower + _t(lower) + np.eye(r.shape[-1], dtype=r.dtype) * m.real
    return _t(_try(np.linalg.solve, "linalg.solve", r, _t(dq + q @ sym)))


class SVD(OfMatrices, Op):
    """A = U diag(s) V^T, U (m, k), s (k,) falling, V^T (k, n), k = min(m, n); with `full` U (m, m), V^T (n, n).

    With F_ij = 1 / (s_j^2 - s_i^2) off the diagonal, 1 / (2 s_i^2) for complex numbers on it, for different s > 0:
    dA = U [(F o (U^T dU - dU^T U)) S + S (F o (V^T dV - dV^T V)) + diag(ds)] V^T
         + (I - U U^T) dU S^-1 V^T + U S^-1 dV^T (I - V V^T).
    Columns of U and V beyond k are any that complete the others: they have no gradient.
    """

    @staticmethod
    def forward(save: Any, a: np.ndarray, full: bool = False) -> tuple:
        _floating("linalg.svd", a)
        u, s, vh = _try(finite(partial(np.linalg.svd, full_matrices=full)), "linalg.svd", a)
        k = s.shape[-1]
        save.u, save.s = (u if u.shape[-1] == k else u[..., :k].copy()), s
        save.vh = vh if vh.shape[-2] == k else vh[..., :k, :].copy()
        return u, s, vh

    @staticmethod
    def backward(saved: Any, du: np.ndarray | None, ds: Any, dvh: np.ndarray | None) -> np.ndarray:
        u, s, vh = saved.u, saved.s, saved.vh
        du, dvh = _first("U", du, u, -1), _first("V", dvh, vh, -2)
        inner = np.zeros((*s.shape, s.shape[-1]), s.dtype) if ds is None else _diag(ds)
        gap = _differences(s * s)
        outer = 0
        if du is not None:
            skew = _t(u) @ du
            inner = inner + (gap * (skew - _t(skew))) * s[..., None, :]
            outer = outer + ((du - u @ skew) / s[..., None, :]) @ vh
            if u.dtype.kind == "c":  # the phase of a column of U and of V is one
                inner = inner + _diag(1j * np.einsum("...ii->...i", skew).imag / s)
        if dvh is not None:
            skew = vh @ _t(dvh)
            inner = inner + s[..., :, None] * (gap * (skew - _t(skew)))
            outer = outer + u @ ((dvh - _t(skew) @ vh) / s[..., :, None])
        return u @ inner @ vh + outer


def _first(name: str, dy: np.ndarray | None, x: np.ndarray, axis: int) -> np.ndarray | None:
    """The part of dy that belongs to x's vectors; there must be no other."""
    if dy is None or dy.shape == x.shape:
        return dy
    first, rest = np.split(dy, [x.shape[axis]], axis)
    if rest.any():
        cause = tr("linalg.svd: {}'s vectors beyond the singular values have no gradient, as any may stand there", name)
        raise LinAlgError(cause, "linalg.svd(A, full_matrices=False)")
    return first


class Eigh(OfMatrices, Op):
    """A = V diag(w) V^T of a symmetric A, read as (A + A^T) / 2, w rising;   dA = sym(V (diag(dw) + F o V^T dV) V^T),

    F_ij = 1 / (w_j - w_i) off the diagonal, for different w.
    """

    saved_outputs = {"w": 0, "v": 1}

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> tuple:
        square("linalg.eigh", a)
        save.w, save.v = _try(np.linalg.eigh, "linalg.eigh", (a + _t(a)) / 2)
        return save.w, save.v

    @staticmethod
    def backward(saved: Any, dw: Any, dv: Any) -> Any:
        w, v = saved.w, saved.v
        inner = np.zeros_like(v) if dw is None else _diag(dw)
        if dv is not None:
            inner = inner + _differences(w) * (_t(v) @ dv)
        return _symmetric(v @ inner @ _t(v))


def _t(a: np.ndarray) -> np.ndarray:
    return conj(a.swapaxes(-1, -2))


def _symmetric(a: Any) -> Any:
    return (a + _t(a)) / 2


def _diag(x: Any) -> Any:
    return x[..., None] * np.eye(x.shape[-1], dtype=x.dtype)


def _differences(x: Any) -> Any:
    """F_ij = 1 / (x_j - x_i), 0 on the diagonal."""
    gap = x[..., None, :] - x[..., :, None]
    off = ~np.eye(x.shape[-1], dtype=bool)
    with np.errstate(divide="ignore"):
        return np.where(off, 1 / np.where(off, gap, 1), 0).astype(x.dtype, copy=False)


def square(where: str, a: np.ndarray) -> None:
    """Raise unless `a` is a stack of square matrices of floats."""
    _floating(where, a)
    if a.shape[-1] != a.shape[-2]:
        cause = tr("{}: A must be batches of square matrices, but they are {} by {} matrices", where, a.shape[-2], a.shape[-1])
        raise ShapeError(cause, "linalg.pinv")


def _floating(where: str, a: np.ndarray) -> None:
    if a.ndim < 2:
        raise ShapeError(tr("{}: The input tensor A must have at least 2 dimensions.", where), "A.reshape(n, n)")
    if a.dtype.kind not in "fc" or a.dtype.itemsize < 4:
        word = WORDS.get(str(a.dtype), a.dtype)
        raise DTypeError(tr("{}: Expected a floating point or complex tensor as input. Got {}", where, word), "A.float()")


def _try(function: Any, where: str, *arrays: Any) -> np.ndarray:
    try:
        return function(*arrays)
    except np.linalg.LinAlgError as error:
        cause = tr("{}: {}", where, _failing(function, where, arrays[0]))
        raise LinAlgError(cause, _FIX.get(where, tr("A + eps I with a small eps"))) from error


_FIX = dict.fromkeys(("linalg.svd", "linalg.eigh", "linalg.eig"), "look at A.isfinite()")


def _failing(function: np.ndarray | Callable, where: str, a: np.ndarray) -> str:
    """Which matrix of a stack it is, and what is wrong with it, in PyTorch's words."""
    flat = a.reshape(-1, *a.shape[-2:])
    alone = (lambda x: np.linalg.inv(x)) if where == "linalg.solve" else function
    at = next((k for k, x in enumerate(flat) if not _works(alone, x)), 0)
    of_stack, x = tr("(Batch element {}): ", at) if a.ndim > 2 else "", flat[at]
    if where == "linalg.cholesky":
        k = next((k for k in range(1, len(x) + 1) if not _works(function, x[:k, :k])), len(x))
        what = tr("because the input is not positive-definite (the leading minor of order {} is not positive-definite).", k)
        return tr("{}The factorization could not be completed {}", of_stack, what)
    if where == "linalg.solve":
        return tr("{}The solver failed because the input matrix is singular.", of_stack)
    if where == "linalg.svd":
        return tr("{}The algorithm failed to converge because the input matrix contained non-finite values.", of_stack)
    if where == "linalg.eigh":
        words = tr("the input matrix is ill-conditioned or has too many repeated eigenvalues, or non-finite values")
        return tr("{}The algorithm failed to converge because {}.", of_stack, words)
    zero = np.flatnonzero(np.diagonal(matrices.lu(x)[0]) == 0)
    k = int(zero[0]) + 1 if zero.size else len(x)
    return tr(
        "{}The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular.", of_stack, k
    )


def _works(function: Any, x: Any) -> bool:
    try:
        function(x)
        return True
    except np.linalg.LinAlgError:
        return False
