"""Matrices (..., m, n): LU by elimination with row exchanges, and the exponential."""

import math

import numpy as np

from badak.kernels.reference._arrays import Array, quiet

# N. Higham 2005, "The scaling and squaring method for the matrix exponential revisited": the largest 1-norm for which the
# diagonal Pade approximant of degree 13 is exact to rounding in float64, and its numerator's coefficients
LARGEST = 5.371920351148152
PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


@quiet
def lu(a: Array) -> tuple[Array, Array]:
    """(L and U in one, row exchanges counted from 1): row k was exchanged with pivots[k] - 1 before column k was cleared."""
    lead, (m, n) = a.shape[:-2], a.shape[-2:]
    made = a.reshape(math.prod(lead), m, n).copy()
    k, stack = min(m, n), np.arange(len(made))
    pivots = np.zeros((len(made), k), np.int32)
    for j in range(k):
        column = made[:, j:, j]
        size = np.abs(column.real) + np.abs(column.imag) if a.dtype.kind == "c" else np.abs(column)
        at = j + size.argmax(axis=1)
        pivots[:, j] = at + 1
        rows = made[stack, at]
        made[stack, at] = made[:, j]
        made[:, j] = rows
        pivot = made[:, j, j, None]
        made[:, j + 1 :, j] = np.where(pivot == 0, made[:, j + 1 :, j], made[:, j + 1 :, j] / pivot)
        made[:, j + 1 :, j + 1 :] -= made[:, j + 1 :, j, None] * made[:, j, None, j + 1 :]
    return made.reshape(a.shape), pivots.reshape(*lead, k)


def order(pivots: Array, m: int) -> Array:
    """The rows (..., m) of A that stand in the rows of L U."""
    count = math.prod(pivots.shape[:-1])
    rows, stack = np.tile(np.arange(m), (count, 1)), np.arange(count)
    for j, at in enumerate(pivots.reshape(count, pivots.shape[-1]).T - 1):
        held = rows[stack, at]
        rows[stack, at] = rows[:, j]
        rows[:, j] = held
    return rows.reshape(*pivots.shape[:-1], m)


@quiet
def exponential(a: Array) -> Array:
    """exp(A) = (exp(A / 2^s))^(2^s), s large enough that a quotient of two polynomials of degree 13 gives the inner one."""
    wide = a.astype(np.result_type(a.dtype, np.float64))
    size = np.abs(wide).sum(axis=-2).max(axis=-1, initial=0.0)
    halvings = np.ceil(np.log2(np.maximum(size / LARGEST, 1.0)))
    halvings = np.where(np.isfinite(halvings), halvings, 0).astype(np.int64)[..., None, None]
    x = wide / 2.0**halvings
    y = _pade(x)
    for i in range(int(halvings.max(initial=0))):
        y = np.where(i < halvings, y @ y, y)
    return y.astype(a.dtype)


def _pade(x: Array) -> Array:
    b, one = PADE, np.eye(x.shape[-1])
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    bad = ~np.isfinite(odd + even).all(axis=(-2, -1), keepdims=True)
    solved = np.linalg.solve(np.where(bad, one, even - odd), np.where(bad, one, even + odd))
    return np.where(bad, math.nan, solved)
