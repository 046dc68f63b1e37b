"""Householder's reflections: products of I - tau v v^H, as LAPACK keeps the Q of a QR in the lower part of a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError, ShapeError, tr
from badak.core.modes import modes
from badak.ops.linalg import _floating
from badak.tensor import returns
from badak.tensor.linalg.products import matmul
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor
from badak.tensor.triangular import tril


def geqrf(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:  # noqa: A002
    """(a, tau): R on and above a's diagonal, the vectors of Q's reflections below it. Without gradient, as in PyTorch."""
    _floating("geqrf", input._array)
    if modes.grad and input.requires_grad:
        raise NotSupportedError("the derivative for 'geqrf' is not implemented.", "linalg.qr")
    a, lead = input._array, input._array.shape[:-2]
    m, n = a.shape[-2:]
    h, tau = np.empty(a.shape, a.dtype), np.empty((*lead, min(m, n)), a.dtype)
    for at in np.ndindex(lead):
        if a[at].size:
            made, tau[at] = np.linalg.qr(a[at], mode="raw")
            h[at] = made.T
    return returns.geqrf(Tensor._of(h), Tensor._of(tau))


def _reflections(a: Tensor, tau: Tensor, name: str):
    """(v, tau) of each reflection, v (..., m, 1)."""
    m, k = a.shape[-2], tau.shape[-1]
    if k > a.shape[-1] or a.shape[:-2] != tau.shape[:-1] or m < a.shape[-1] and name == "linalg.householder_product":
        cause = tr("{}: input (..., m, n) must have m >= n and n >= the size of tau (..., k); got {} and {}", name, tuple(a.shape),
                   tuple(tau.shape))  # fmt: skip
        raise ShapeError(cause, "both as geqrf gave them")
    v = tril(a[..., :k], -1) + Tensor._of(np.eye(m, k, dtype=a._array.dtype))
    return [(v[..., i : i + 1], tau[..., i, None, None]) for i in range(k)]


def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:  # noqa: A002
    """The first n columns of H_1 H_2 ... H_k, H_i = I - tau_i v_i v_i^H, v_i = (0, ..., 1, input[i + 1 :, i])."""
    m, n = input.shape[-2:]
    y = Tensor._of(np.eye(m, n, dtype=input._array.dtype)).expand(*input.shape)
    for v, t in reversed(_reflections(input, tau, "linalg.householder_product")):
        y = y - t * matmul(v, matmul(v.mH, y))
    return into(out, y, exact=True)


orgqr = householder_product


def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False, *, out: Tensor | None = None
) -> Tensor:  # noqa: A002
    """Q other, or other Q with left=False; Q^H with `transpose`: Q is the whole product of the reflections."""
    parts = _reflections(input, tau, "ormqr")
    y = other if left else other.mH
    wanted = parts if transpose == left else list(reversed(parts))
    for v, t in wanted:
        y = y - (t.conj() if transpose == left else t) * matmul(v, matmul(v.mH, y))
    return into(out, y if left else y.mH, exact=True)
