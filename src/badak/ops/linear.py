"""The affine map of the last axis."""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.kernels import LARGE
from badak.kernels.memory_format import turn
from badak.ops._check import cannot_multiply, dtype_mismatch, unlike_summands
from badak.ops._complex import conj
from badak.ops.batching import aligned, every
from badak.ops.matmul import MatMul
from badak.ops.op import Op, flops_of_products


class Linear(Op):
    """y = x w^T + b;   dx = dy w, dw = sum of dy^T x over the rows, db = sum of dy over the rows.

    x (..., K), w (N, K), b (N,) or None -> (..., N).
    """

    portable = "fd"
    capturable = True
    supports_bf16 = True
    keeps_finite = True
    flops = flops_of_products(0, 1, lambda inputs: inputs[1].shape[-1])
    kept_for = {0: 1, 1: 0}  # noqa: RUF012
    thins = staticmethod(lambda save: save.x.size >= LARGE and 8 * len(save.w) <= save.w.shape[-1])  # an adapter

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        kind, size = w.dtype, w.shape
        if x.dtype is not kind or len(size) != 2 or not x.ndim or x.shape[-1] != size[1]:
            _check(x, w, b)
        elif b is not None and (b.dtype is not kind or b.shape != size[:1]):
            _check(x, w, b)
        save.x, save.w = x, w
        return kernels.of(x).linear(x, w, b)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        x, w = saved.x, saved.w
        if dy.dtype.kind == "c":  # dw and dx are conjugates of what the chain rule gives: see `_complex.py`
            x, w = x.conj(), w.conj()
        backward = kernels.of(dy).linear_backward
        turned = None if x.flags.c_contiguous else turn(x.shape, x)
        if turned is None or turned[0][-1] != x.ndim - 1:
            return backward(dy, x, w, saved.needs)
        order, inverse = turned
        # the rows in the order of memory: attention that is batch first inside of nn.MultiheadAttention is not copied
        dx, dw, db = backward(dy.transpose(order), x.transpose(order), w, saved.needs)
        return None if dx is None else dx.transpose(inverse), dw, db

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        x, w, b = xs
        if not (batched[1] or batched[2]):
            return run(op, x, w, b)
        if w.ndim - batched[1] != 2 or not x.ndim - batched[0]:
            return NotImplemented
        x, w, b = every(xs, batched)
        y = run(LinearOfEach, x.reshape(len(x), math.prod(x.shape[1:-1]), x.shape[-1]), w, b)
        return y.reshape(*x.shape[:-1], w.shape[1])


class LinearOfEach(Op):
    """y[n] = x[n] w[n]^T + b[n], each example with its own weight;   dx = dy w, dw = dy^T x, db = sum of dy over the rows.

    x (N, T, K), w (N, M, K), b (N, M) or None -> (N, T, M). A weight that is the same in memory for all n is multiplied once.
    """

    flops = flops_of_products(0, 1, lambda inputs: inputs[1].shape[-1])
    kept_for = {0: 1, 1: 0}  # noqa: RUF012

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        """The examples of a vmap around: among the rows where they share the weights, else each with a weight of its own."""
        x, w, b = xs
        if not (batched[1] or batched[2]):
            y = run(op, x.transpose(0, 1).flatten(1, 2), w, b)
            return y.reshape(x.shape[1], x.shape[0], *x.shape[2:-1], w.shape[1]).transpose(0, 1)
        x, *rest = every(xs, batched)
        y = run(op, *[None if a is None else a.flatten(0, 1) for a in (x, *rest)])
        return y.reshape(*x.shape[:2], *y.shape[1:])

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        save.x, save.w = x, w
        if x.dtype != w.dtype or (b is not None and b.dtype != w.dtype) or x.shape[-1] != w.shape[-1]:
            _check(x, w[0], None if b is None else b[0])
        if len(w) and not w.strides[0]:
            y = kernels.of(x).linear(x, w[0], b[0] if b is not None and not b.strides[0] else None)
            return y if b is None or not b.strides[0] else y + b[:, None]
        y = kernels.of(x).matmul(x, w.swapaxes(-1, -2))
        return y if b is None else y + b[:, None]

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        x, w, (of_x, of_w, of_b), kernel = saved.x, saved.w, saved.needs, kernels.of(dy)
        dx = None
        if of_x and type(w) is np.ndarray and len(w) and not any(w.strides[:1]):
            dx = kernel.matmul(dy.reshape(-1, dy.shape[-1]), conj(w[0])).reshape(x.shape)
        elif of_x:
            dx = kernel.matmul(dy, conj(w))
        dw = kernel.matmul(dy.swapaxes(-1, -2), conj(x)) if of_w else None
        return dx, dw, dy.sum(axis=1) if of_b else None


class AddMM(Op):
    """y = b + x w;   db = sum of dy over the rows, dx = dy w^H, dw = x^H dy.    b (N,), x (M, K), w (K, N), all that fit."""

    portable = "fd"
    flops = flops_of_products(1, 2, lambda inputs: inputs[1].shape[-1])
    kept_for = {1: 2, 2: 1}  # noqa: RUF012
    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save: Any, b: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        save.x, save.w = x, w
        return kernels.of(x).linear(x, w.T, b)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        of_b, of_x, of_w = saved.needs
        x, w = conj(saved.x), conj(saved.w)
        dx, _, db = kernels.of(dy).linear_backward(dy, x, w.T, (of_x, False, of_b))
        return db, dx, kernels.of(dy).matmul(x.T, dy) if of_w else None

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        b, x, w = xs
        y = MatMul.batching(run, MatMul, [x, w], batched[1:], {}) if batched[1] or batched[2] else run(MatMul, x, w)
        return y + (aligned(b, 2) if batched[0] else b)


def _check(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> None:
    if x.dtype != w.dtype or (b is not None and b.dtype != w.dtype):
        raise dtype_mismatch("linear", unlike_summands(x, w, b), weight=w, input=x, bias=b)
    check_shapes(x, w, b)


def check_shapes(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> None:
    """Raise ShapeError unless x (..., K), w (N, K) and b (N,) fit."""
    if w.ndim != 2 or x.ndim == 0 or x.shape[-1] != w.shape[1]:
        raise _mismatch(x, w)
    if b is not None and b.shape != w.shape[:1]:
        cause = tr("linear: expected bias (N,) where weight is (N, K); got bias={}, weight={}", b.shape, w.shape)
        raise ShapeError(cause, tr("a bias of shape ({},)", w.shape[0]))


def _mismatch(x: np.ndarray, w: np.ndarray) -> ShapeError:
    cause = tr("{}: linear takes input (..., K) and weight (N, K); got input={}, weight={}",
               cannot_multiply(x.shape, w.shape[::-1]), x.shape, w.shape)  # fmt: skip
    if w.ndim != 2 or x.ndim == 0:
        return ShapeError(cause, "weight needs 2 dims and input at least 1")
    return ShapeError(cause, tr("Linear({}, {}), or an input whose last size is {}", x.shape[-1], w.shape[0], w.shape[1]))
