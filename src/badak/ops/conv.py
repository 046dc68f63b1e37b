"""Convolution over any number of axes, as a matrix product of the weight and the windows of the input.

x (N, C, *S), w (M, C/G, *K) with G groups of channels -> y (N, M, *O), O = (S + 2 padding - dilation (K - 1) - 1) // stride + 1.
With cols (N, G, J, L) = the windows of x, one column of J = C/G prod(K) numbers for each of L = prod(O) positions, and W the
weight as (G, M/G, J):

    y = W cols + b        dcols = W^T dy, put back where the windows came from        dW = sum_n dy cols^T        db = sum dy
"""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.ops._check import dtype_mismatch, unlike_filters, unlike_scalars
from badak.ops._complex import analytic
from badak.ops.batching import every, folded
from badak.ops.op import Count, Op, flops_of_products


class Conv(Op):
    """y = W cols(x) + b;   dx = fold(W^T dy), dW = sum_n dy cols^T, db = sum dy over all but the channels."""

    flops = flops_of_products(0, 1, lambda inputs: math.prod(inputs[1].shape[1:]))

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int = 1,
    ) -> np.ndarray:
        _check(x, w, b, groups)
        out = output_size(x.shape[2:], w.shape[2:], stride, padding, dilation)
        save.x, save.w, save.at, save.groups = x, w, (stride, padding, dilation), groups
        return _plus(kernels.of(x).conv(x, w, save.at, groups, out), b)

    @staticmethod
    @analytic
    def backward(saved: Any, dy: Any) -> tuple:
        x, w, at, groups = saved.x, saved.w, saved.at, saved.groups
        dx = kernels.of(dy).conv_dx(dy, w, at, groups, x.shape[2:]) if saved.needs[0] else None
        dw = kernels.of(dy).conv_dw(dy, x, w.shape, at, groups) if saved.needs[1] else None
        return dx, dw, _db(dy) if saved.needs[2] else None

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        x, w, b = xs
        if not batched[1]:
            y = folded(run, op, [x, w, None], (True, False, False), attributes)
        else:  # the examples side by side as groups
            x, w = every([x, w], batched[:2])
            n, size, groups = len(x), x.shape[1], attributes.get("groups", 1)
            y = run(op, x.transpose(0, 1).flatten(1, 2), w.flatten(0, 1), None, **attributes | {"groups": n * groups})
            y = y.reshape(size, n, w.shape[1], *y.shape[2:]).transpose(0, 1)
        if b is None:
            return y
        return y + b.reshape(-1 if batched[2] else 1, 1, w.shape[batched[1]], *(1,) * (y.ndim - 3))


class ConvTranspose(Op):
    """y = fold(W^T x) + b, the adjoint of Conv in x: w (C, M/G, *K);   dx = W cols(dy), dW = sum_n x cols(dy)^T, db = sum dy."""

    batching = staticmethod(folded)

    @staticmethod
    def flops(inputs: Any, outputs: Any, attributes: Any) -> Count:
        x, w = inputs[:2]
        flops = 2 * x.size * (w.size // max(w.shape[0], 1))
        return flops, {0: flops, 1: flops}

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        output_padding: tuple[int, ...],
        groups: int = 1,
    ) -> np.ndarray:
        if w.shape[0] != x.shape[1]:
            raise _channels("conv_transpose", x, w, groups, w.shape[0])
        if x.dtype != w.dtype or (b is not None and b.dtype != w.dtype):
            raise dtype_mismatch("conv_transpose", unlike_scalars(x, w if x.dtype != w.dtype else b), input=x, weight=w, bias=b)
        _expect_bias("conv_transpose", w, b, w.shape[1] * groups)
        save.x, save.w, save.at, save.groups = x, w, (stride, padding, dilation), groups
        size = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for n, k, s, p, d, extra in zip(x.shape[2:], w.shape[2:], stride, padding, dilation, output_padding)
        )
        return _plus(kernels.of(x).conv_dx(x, w, save.at, groups, size), b)

    @staticmethod
    @analytic
    def backward(saved: Any, dy: Any) -> tuple:
        x, w, at, groups = saved.x, saved.w, saved.at, saved.groups
        dx = kernels.of(dy).conv(dy, w, at, groups, x.shape[2:]) if saved.needs[0] else None
        dw = kernels.of(dy).conv_dw(x, dy, w.shape, at, groups) if saved.needs[1] else None
        return dx, dw, _db(dy) if saved.needs[2] else None


def _plus(y: np.ndarray, b: np.ndarray | None) -> np.ndarray:
    """y + b of each channel, in the memory of y."""
    return y if b is None else kernels.of(y).arithmetic(np.add, y, b.reshape(-1, *(1,) * (y.ndim - 2)), y)


def _db(dy: Any) -> Any:
    return dy.sum(axis=(0, *range(2, dy.ndim)))


def output_size(
    size: Any, kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[int, ...]:
    """How many windows there are along each axis. Raises ShapeError where the window is larger than what it slides over."""
    wide = [n + 2 * p for n, p in zip(size, padding)]
    need = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    if any(n < k for n, k in zip(wide, need)):
        size, window = (" x ".join(map(str, numbers)) for numbers in (wide, need))
        cause = tr("conv: Calculated padded input size per channel: ({}). Kernel size: ({}). "
                   "Kernel size can't be greater than actual input size", size, window)  # fmt: skip
        raise ShapeError(cause, "a larger padding, or a smaller kernel_size")
    return tuple((n - k) // s + 1 for n, k, s in zip(wide, need, stride))


def _check(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, groups: int) -> None:
    if x.dtype != w.dtype or (b is not None and b.dtype != w.dtype):
        raise dtype_mismatch("conv", unlike_filters(x, w, b), input=x, weight=w, bias=b)
    if x.shape[1] != w.shape[1] * groups or w.shape[0] % groups:
        raise _channels("conv", x, w, groups, w.shape[1] * groups)
    _expect_bias("conv", w, b, w.shape[0])


def _expect_bias(where: str, w: np.ndarray, b: np.ndarray | None, channels: int) -> None:
    """Raise unless b is one number for each channel: of one number NumPy would make a bias of all."""
    if b is not None and b.shape != (channels,):
        raise ShapeError(
            tr("{}: Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} instead",
               where, list(w.shape), channels, list(b.shape)),
            tr("a bias of shape ({},)", channels),
        )  # fmt: skip


def _channels(where: str, x: np.ndarray, w: np.ndarray, groups: int, expected: int) -> ShapeError:
    cause = tr("{}: Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead", where,
               groups, list(w.shape), list(x.shape), expected, x.shape[1])  # fmt: skip
    fix = tr("in_channels={}, or an input (N, {}, ...): channels come before the positions", x.shape[1], expected)
    return ShapeError(cause, fix)
