"""Norms of windows, and the reverse of taking their maxima."""

import math
from collections.abc import Sequence

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.nn.functional.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from badak.nn.functional.sizes import sizes, with_batch
from badak.tensor import Tensor
from badak.tensor.convert import as_images

__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]

_MEAN = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}
_LARGEST = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(sum x^p)^(1/p) of each window of x (N, C, L) or (C, L), p = norm_type (inf: the largest |x|); 0 where the sum is below 0."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """As lp_pool1d on x (N, C, H, W) or (C, H, W)."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """As lp_pool1d on x (N, C, D, H, W) or (C, D, H, W)."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 3)


def _lp_pool(input, p, kernel_size, stride, ceil_mode: bool, axes: int) -> Tensor:
    x, where = tensor(input, f"lp_pool{axes}d"), f"lp_pool{axes}d"
    if math.isinf(p):
        sign = 1 if p > 0 else -1
        return sign * _LARGEST[axes](sign * x.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = _MEAN[axes](x.pow(p), kernel_size, stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * math.prod(sizes(kernel_size, axes, where, "kernel_size"))).pow(1.0 / p)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """y (N, C, L) with x (N, C, O) at `indices` in L, which max_pool1d gave, and 0 elsewhere;   dx = dy at `indices`."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """As max_unpool1d on x (N, C, O1, O2); indices count in H W."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """As max_unpool1d on x (N, C, O1, O2, O3); indices count in D H W."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def _unpool(input, indices, kernel_size, stride, padding, output_size, axes: int) -> Tensor:
    where = f"max_unpool{axes}d"
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
