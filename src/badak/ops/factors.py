"""More of what matrices are taken apart into: L U, eigenvalues of any matrix; and the exponential of one.

A (..., n, n) or (..., m, n); X^T is the transpose of the last two axes, for complex numbers conjugated.
Source of the gradients: Giles 2008, "An extended collection of matrix derivative results"; Van der Aa et al. 2007, "Computation of
eigenvalue and eigenvector derivatives"; Al-Mohy and Higham 2009, "Computing the Frechet derivative of the matrix exponential".
"""

from typing import Any

import numpy as np

from badak.kernels.memory_format import row_major
from badak.kernels.reference import matrices
from badak.ops._broadcast import quiet
from badak.ops.linalg import LinAlgError, OfMatrices, _floating, _t, square
from badak.ops.op import Op


class LU(OfMatrices, Op):
    """P^T A = L U in one matrix, L's ones left out, and the row exchanges.   With k = min(m, n), A's rows in their new order,

    dA = L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T for the first k rows and columns. For m < n the other columns of U are
    L^-1 A: they give dA = L^-T dU and add -L^-T dU U^T to dL. For m > n the other rows of L are A U^-1: dA = dL U^-T, and
    -L^T dL U^-T is added to dU.
    """

    saved_outputs = {"lu": 0}

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> tuple:
        _floating("linalg.lu_factor", a)
        save.lu, save.pivots = matrices.lu(a)
        return save.lu, save.pivots

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any, dpivots: Any) -> Any:
        packed, (m, n) = saved.lu, saved.lu.shape[-2:]
        k = min(m, n)
        one = np.eye(k, dtype=packed.dtype)
        lower, upper = np.tril(packed[..., :k, :k], -1) + one, np.triu(packed[..., :k, :k])
        dlower, dupper = np.tril(dy[..., :k, :k], -1), np.triu(dy[..., :k, :k])
        parts, rest = [], None
        if m < n:
            rest = np.linalg.solve(_t(lower), dy[..., k:])
            dlower = dlower - rest @ _t(packed[..., k:])
        elif m > n:
            rest = _t(np.linalg.solve(upper, _t(dy[..., k:, :])))
            dupper = dupper - _t(packed[..., k:, :]) @ rest
        inner = np.tril(_t(lower) @ dlower, -1) + np.triu(dupper @ _t(upper))
        first = np.linalg.solve(_t(lower), _t(np.linalg.solve(upper, _t(inner))))
        parts = [first] if rest is None else [first, rest]
        turned = np.concatenate(parts, -1 if m < n else -2)
        back = np.argsort(matrices.order(saved.pivots, m), axis=-1)
        return np.eye(m, dtype=packed.dtype)[back] @ turned


class Eig(OfMatrices, Op):
    """A V = V diag(w) of any square A; the columns of V have length 1, and their largest entry is real, as LAPACK gives them.

    With g = dV less its part along V, V Re(V^T dV), and less what turns a column, i Im(V^T dV) / v at its largest entry v:
    dA = V^-T (diag(dw) + F o V^T g) V^T, F_ij = 1 / (w_j - w_i)* off the diagonal, for different w; of a real A the real part.
    """

    saved_outputs = {"w": 0, "v": 1}

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> tuple:
        square("linalg.eig", a)
        kind = np.result_type(a.dtype, np.complex64)
        if not np.isfinite(a).all():
            raise LinAlgError("torch.linalg.eig: input tensor should not contain infs or NaNs.", "look at A.isfinite()")
        w, v = np.linalg.eig(a)
        save.w, save.v, save.real = w.astype(kind), v.astype(kind), a.dtype.kind != "c"
        return save.w, save.v

    @staticmethod
    @quiet
    def backward(saved: Any, dw: Any, dv: np.ndarray | None) -> Any:
        w, v = saved.w, saved.v
        one = np.eye(w.shape[-1], dtype=w.real.dtype)
        inner = 0
        if dv is not None:
            along = (v.conj() * dv).sum(axis=-2, keepdims=True)
            largest = _largest(v)
            g = dv - v * along.real - largest * (1j * along.imag / (v * largest).sum(axis=-2, keepdims=True))
            gap = (w[..., None, :] - w[..., :, None]).conj() + one
            inner = (_t(v) @ g) / gap * (1 - one)
        if dw is not None:
            inner = inner + dw[..., None, :] * one
        da = np.linalg.solve(_t(v), inner @ _t(v))
        return da.real.copy() if saved.real else da


def _largest(v: Any) -> np.ndarray:
    """1 at the largest entry of each column, 0 elsewhere; a column that is real turns nowhere, so any will do."""
    values = np.abs(v) if isinstance(v, np.ndarray) else np.abs(v.values)
    mask = np.zeros(values.shape, values.dtype)
    if mask.size:
        np.put_along_axis(mask, values.argmax(axis=-2)[..., None, :], 1, axis=-2)
    return mask


class MatrixExp(OfMatrices, Op):
    """Y = exp(A) = sum over k of A^k / k!;   dA = the upper right quarter of exp([[A^T, dY], [0, A^T]])."""

    @staticmethod
    def forward(save: Any, a: np.ndarray) -> np.ndarray:
        square("linalg.matrix_exp", a)
        save.a = a
        return matrices.exponential(a)

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        n = dy.shape[-1]
        return row_major(MatrixExp.of(doubled(saved.a, dy))[..., :n, n:])


def doubled(a: Any, dy: Any) -> Any:
    """[[A^T, dY], [0, A^T]]."""
    t = _t(a)
    return np.concatenate([np.concatenate([t, dy], -1), np.concatenate([np.zeros_like(t), t], -1)], -2)
