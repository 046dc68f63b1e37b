"""Norms of windows, and the reverse of taking their maxima."""

import math
from collections.abc import Callable, Sequence

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.nn.functional.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from badak.nn.functional.sizes import over_axes, sizes, with_batch
from badak.tensor import Tensor
from badak.tensor.convert import as_images

__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]

_MEAN = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}
_LARGEST = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}


def _lp_pool(axes: int, where: str) -> Callable[..., Tensor]:
    def lp_pool(
        input: Tensor,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        x = tensor(input, where)
        if math.isinf(norm_type):
            sign = 1 if norm_type > 0 else -1
            return sign * _LARGEST[axes](sign * x.abs(), kernel_size, stride, 0, 1, ceil_mode)
        mean = _MEAN[axes](x.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        count = math.prod(sizes(kernel_size, axes, where, "kernel_size"))
        return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm_type)

    return lp_pool


_NORM = """(sum x^p)^(1/p) of each window of x (N, C, {L}) or (C, {L}), p = norm_type (inf: the largest |x|).

0 where the sum is below 0."""
lp_pool1d, lp_pool2d, lp_pool3d = over_axes(_lp_pool, "lp_pool", _NORM)


def _unpool(axes: int, where: str) -> Callable[..., Tensor]:
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        output_size: int | Sequence[int] | None = None,
    ) -> Tensor:
        x, batched = with_batch(tensor(input, where), axes, where)
        at, _ = with_batch(tensor(indices, where, "indices"), axes, where)
        if x.shape != at.shape:
            cause = tr("{}: expected indices of input's shape {}; got {}", where, tuple(input.shape), tuple(indices.shape))
            raise ShapeError(cause, tr("what {}(..., return_indices=True) gave", where.replace("un", "")))
        kernel = sizes(kernel_size, axes, where, "kernel_size")
        steps = kernel if stride is None or stride == [] else sizes(stride, axes, where, "stride")
        around = sizes(padding, axes, where, "padding")
        usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(x.shape[2:], steps, kernel, around)]
        size = usual if output_size is None else list(output_size)[-axes:]
        if len(size) != axes or any(abs(n - u) >= s for n, u, s in zip(size, usual, steps)):
            cause = tr("{}: invalid output_size {}, expected within stride of {}", where, list(output_size), usual)
            raise ArgumentError(cause, f"{usual}")
        y = x.new_zeros((*x.shape[:2], math.prod(size))).scatter(2, at.flatten(2), x.flatten(2)).unflatten(2, size)
        if not batched:
            return y.squeeze(0)
        return as_images(y, x) if axes == 2 else y

    return max_unpool


_BACK = """y (N, C, {L}) with x (N, C, {O}) at `indices`, which max_pool{axes}d gave, and 0 elsewhere;   dx = dy there."""
max_unpool1d, max_unpool2d, max_unpool3d = over_axes(_unpool, "max_unpool", _BACK)
