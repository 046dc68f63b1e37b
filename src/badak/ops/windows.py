"""Windows that slide over an image or a sequence: cut out, put back, their maximum and mean."""

from typing import Any

import numpy as np

from badak import kernels
from badak.ops.batching import folded
from badak.ops.op import Op
from badak.ops.operation import operation

Unfold = operation(
    "Unfold", "y[n, c, k, o] = x[n, c, o stride - padding + k dilation], 0 outside;   dx = dy, each added where it came from.",
    lambda x, kernel, stride, padding, dilation, out: kernels.of(x).unfold(x, kernel, stride, padding, dilation, out),
    lambda dy, x_shape, stride, padding, dilation: kernels.of(dy).fold(dy, x_shape[2:], stride, padding, dilation),
    batching=folded,
)  # fmt: skip


class Fold(Op):
    """The adjoint of Unfold: entries of x (N, C, *K, *O) that lie on the same place are added;   dx = the windows of dy."""

    saves_no_tensors = True
    batching = staticmethod(folded)

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
    ) -> np.ndarray:
        axes = len(size)
        save.kernel, save.out, save.at = x.shape[2 : 2 + axes], x.shape[2 + axes :], (stride, padding, dilation)
        return kernels.of(x).fold(x, size, stride, padding, dilation)

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        return kernels.of(dy).unfold(dy, saved.kernel, *saved.at, saved.out)


class MaxPool(Op):
    """y, index: the largest entry of each window, and where it is;   dx = dy at that place, summed over windows."""

    keeps_finite = True
    batching = staticmethod(folded)

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        out: tuple[int, ...],
    ) -> tuple:
        y, save.index = kernels.of(x).max_pool(x, kernel, stride, padding, dilation, out)
        save.x_shape = x.shape
        return y, save.index

    @staticmethod
    def backward(saved: Any, dy: Any, dindex: Any) -> Any:
        return kernels.of(dy).max_pool_backward(dy, saved.index, saved.x_shape[2:])


AvgPool = operation(
    "AvgPool", "y = the sum of each window / counts;   dx = dy / counts for every entry of the window, summed over windows.",
    lambda x, kernel, stride, padding, out, counts: kernels.of(x).avg_pool(x, kernel, stride, padding, out, counts),
    lambda dy, x_shape, kernel, stride, padding, counts:
        kernels.of(dy).avg_pool_backward(dy, x_shape[2:], kernel, stride, padding, counts),
    saves_no_tensors=False, batching=folded,
)  # fmt: skip
