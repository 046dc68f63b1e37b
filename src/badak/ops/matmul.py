"""The matrix product and vectors with any leading axes."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.kernels.half import FLOAT32
from badak.ops._broadcast import stretched, unbroadcast
from badak.ops._check import cannot_multiply, dtype_mismatch, unlike_factors
from badak.ops._complex import conj
from badak.ops.batching import aligned
from badak.ops.op import Op, flops_of_products


class MatMul(Op):
    """y[..., m, n] = sum_k a[..., m, k] b[..., k, n];   da = dy b^H, db = a^H dy, summed over stretched axes
    (b^H is the transpose, for complex numbers conjugated).

    As in torch.matmul: a vector on the left is a row, on the right a column, and its axis of size 1 leaves the
    result. Leading axes broadcast. A stack of matrices times one matrix is one product of all their rows.
    """

    portable = "fd"
    name = "matmul"
    flops = flops_of_products(0, 1, lambda inputs: inputs[0].shape[-1])
    kept_for = {0: 1, 1: 0}  # noqa: RUF012
    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        save.a, save.b = a, b
        if a.dtype is not b.dtype and a.dtype != b.dtype:
            raise dtype_mismatch("matmul", unlike_factors(a, b), a=a, b=b)
        return multiplied(a, b)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        if dy.dtype.itemsize != 2:
            return gradients(saved, dy)
        return gradients(saved, dy, dy.dtype, dy.dtype)  # what is summed over stretched axes is rounded once

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        a, b = xs
        rows, columns = a.ndim - batched[0] > 1, b.ndim - batched[1] > 1
        if not (a.ndim - batched[0] and b.ndim - batched[1]):
            return NotImplemented
        a, b = a if rows else a.unsqueeze(-2), b if columns else b.unsqueeze(-1)
        ndim = max(a.ndim - batched[0], b.ndim - batched[1])
        if not (batched[0] and not batched[1] and b.ndim == 2):  # which is one product of all rows
            a, b = (aligned(x, ndim) if each else x for x, each in zip((a, b), batched))
        y = run(op, a, b)
        y = y if columns else y.squeeze(-1)
        return y if rows else y.squeeze(-2 if columns else -1)


def multiplied(a: np.ndarray, b: np.ndarray, *kind: Any) -> np.ndarray:
    """a b; `kind`: the result's dtype, where it is not a's."""
    if _alike(a, b):
        return kernels.of(a).matmul(a, b, *kind)
    _check(a, b)
    left, right = _matrices(a, b)
    return _product(left, right, *kind).reshape(_shape(a, b))


def gradients(saved: Any, dy: Any, *kinds: Any) -> tuple:
    """da and db; `kinds`: their dtypes, where they are not dy's."""
    a, b = conj(saved.a), conj(saved.b)
    (na, nb), ka, kb = saved.needs, kinds[:1], kinds[1:]
    if _alike(a, b):
        matmul = kernels.of(dy).matmul
        return matmul(dy, b.swapaxes(-1, -2), *ka) if na else None, matmul(a.swapaxes(-1, -2), dy, *kb) if nb else None
    left, right = _matrices(a, b)
    dy = dy.reshape(*dy.shape[: dy.ndim - (a.ndim > 1) - (b.ndim > 1)], left.shape[-2], right.shape[-1])
    da = db = None
    if na:
        da = _summed(dy, right.swapaxes(-1, -2), left.shape, *ka).reshape(a.shape)
    if nb:
        if right.ndim == 2:
            left, dy = _rows(left), _rows(dy)
        db = _summed(left.swapaxes(-1, -2), dy, right.shape, *kb).reshape(b.shape)
    return da, db


def _summed(left: Any, right: Any, shape: tuple[int, ...], *kind: Any) -> Any:
    """left right, summed down to `shape` where an axis was stretched, and then rounded to `kind`."""
    if not kind or (left.ndim == right.ndim and left.shape[:-2] == right.shape[:-2] == shape[:-2]):
        return unbroadcast(_product(left, right, *kind), shape)
    return unbroadcast(_product(left, right, FLOAT32), shape).astype(kind[0], copy=False)


def _alike(a: Any, b: Any) -> bool:
    """Whether a and b are stacks of as many matrices that fit, as in attention: nothing to check, stretch or sum."""
    left, right = a.shape, b.shape
    return len(left) == len(right) > 2 and left[:-2] == right[:-2] and left[-1] == right[-2]


def _check(a: np.ndarray, b: np.ndarray) -> None:
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(tr("matmul: both arguments need at least 1 dim; got a={}, b={}", a.shape, b.shape), "a * b")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        fits = b.ndim > 1 and a.shape[-1] == b.shape[-1]
        cause = tr(
            "{}: matmul takes a (..., M, K) and b (..., K, N); got a={}, b={}", cannot_multiply(a.shape, b.shape), a.shape, b.shape
        )
        raise ShapeError(cause, "a @ b.transpose(-2, -1)" if fits else "the last size of a must be the second to last of b")


def _matrices(a: Any, b: Any) -> tuple:
    """a and b with at least two axes."""
    return a[None, :] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b


def _rows(x: Any) -> Any:
    """(..., M, K) as (all rows, K)."""
    count = 1
    for n in x.shape[:-1]:
        count *= n
    return x.reshape(count, x.shape[-1])


def _product(left: Any, right: Any, *kind: Any) -> Any:
    if right.ndim == 2 < left.ndim:
        flat = kernels.of(left).matmul(_rows(left), right, *kind)
        return flat.reshape(*left.shape[:-1], right.shape[-1])
    if left.ndim > 2 and right.ndim > 2:
        stretched(left.shape[:-2], right.shape[:-2])  # says which axes clash
    return kernels.of(left).matmul(left, right, *kind)


def _shape(a: np.ndarray, b: np.ndarray) -> Any:
    lead = stretched(a.shape[:-2], b.shape[:-2]) if a.ndim > 2 or b.ndim > 2 else ()
    return *lead, *(a.shape[-2:-1] if a.ndim > 1 else ()), *(b.shape[-1:] if b.ndim > 1 else ())
