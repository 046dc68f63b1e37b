"""Pooling: the maximum or the mean of windows."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, OutOfMemoryError, ShapeError, tr
from badak.core.modes import modes
from badak.core.public_api.taken import named
from badak.nn.functional._common import float_tensor, real_tensor, tensor
from badak.nn.functional.sizes import is_many, over_axes, sizes, with_batch
from badak.ops._check import expect_floats, not_floating
from badak.ops.windows import AvgPool, MaxPool
from badak.tensor import Tensor, apply, arange
from badak.tensor.casting import in_full
from badak.tensor.concat import cat
from badak.tensor.convert import as_images
from badak.tensor.dtypes import int64
from badak.tensor.promote import told_constant
from badak.tensor.upcast import in_float32

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
]  # fmt: skip


def _max_pool(axes: int, where: str) -> Callable[..., Any]:
    def max_pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor:
        x = real_tensor(input, where)
        expect_floats(
            where, x, also="iu" if axes > 1 or return_indices else ""
        )  # of lines PyTorch takes another way without places
        x, batched = with_batch(_range(x, axes), axes, where)
        kernel, stride, padding = _window(kernel_size, stride, padding, axes, where)
        dilation = sizes(dilation, axes, where, "dilation")
        if min(dilation) < 1:
            raise ArgumentError(tr("{}: dilation must be greater than zero, but got {}", where, dilation), "dilation=1")
        if 0 in x.shape[1:]:
            cause = tr("{}: expected no empty dim but the batch; got {}", where, tuple(input.shape))
            raise ShapeError(cause, "an input that is not empty")
        out = _output(x, kernel, stride, padding, dilation, ceil_mode, where)
        y, index = apply(MaxPool, x, kernel=kernel, stride=stride, padding=padding, dilation=dilation, out=out)
        lines = return_indices or (modes.grad and x.requires_grad)  # of (N, C, L) PyTorch takes another way without these
        y, index = (as_images(part, x, lines=lines) if batched else part.squeeze(0) for part in (y, index))
        return (y, index) if return_indices else y

    return max_pool


def _with_places(pool: Callable[..., Any]) -> Callable[..., Any]:
    def max_pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    return named(max_pool, f"{pool.__name__}_with_indices", f"As {pool.__name__}, with the places.")


_MAX = """The largest number of each window of x; dx = dy there.

Args:
    input: (N, C, {L}) or (C, {L})
    kernel_size: of a window; one number or one for each axis
    stride: step between windows; kernel_size by default
    padding: -inf added at each side
    dilation: step between the taps of a window
    ceil_mode: a last window may hang over the end
    return_indices: also give where each maximum was, counted in {L}

Returns: (N, C, {O}) or (C, {O})

Example:
    >>> F.{name}(badak.arange(2.0**{axes}).view(1, *[2] * {axes}), 2).item() == 2**{axes} - 1
    True
"""
max_pool1d, max_pool2d, max_pool3d = over_axes(_max_pool, "max_pool", _MAX)
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(_with_places, (max_pool1d, max_pool2d, max_pool3d))


def avg_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of x (N, C, L) or (C, L); dx = dy / count. count_include_pad: zeros of the padding count too."""
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1, "avg_pool1d")


def _avg_pool_over(axes: int, where: str) -> Callable[..., Tensor]:
    def avg_pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, axes, where)

    return avg_pool


_MEAN = """The mean of each window of x; dx = dy / count.

Args:
    input: (N, C, {L}) or (C, {L})
    kernel_size: of a window; one number or one for each axis
    stride: step between windows; kernel_size by default
    padding: zeros added at each side
    ceil_mode: a last window may hang over the end
    count_include_pad: whether the zeros count
    divisor_override: what the sums are divided by instead of the count

Returns: (N, C, {O}) or (C, {O})

Example:
    >>> F.{name}(badak.arange(2.0**{axes}).view(1, *[2] * {axes}), 2).item() == (2**{axes} - 1) / 2
    True
"""
avg_pool2d, avg_pool3d = over_axes(_avg_pool_over, "avg_pool", _MEAN, least=2)


def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of O windows that cover x (N, C, L) or (C, L): window o is floor(o L/O) to ceil((o+1) L/O)."""
    return adaptive_mean(input, output_size, 1, "adaptive_avg_pool1d")


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """As adaptive_avg_pool1d on x (N, C, H, W) or (C, H, W). An output size of None keeps that axis."""
    return adaptive_mean(input, output_size, 2, "adaptive_avg_pool2d")


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """As adaptive_avg_pool1d on x (N, C, D, H, W) or (C, D, H, W). An output size of None keeps that axis."""
    return adaptive_mean(in_full(input), output_size, 3, "adaptive_avg_pool3d")


def _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor, axes: int, where: str) -> Tensor:
    x, batched = with_batch(_range(tensor(input, where), axes), axes, where)
    whole = x.dtype is int64
    if not x.is_floating_point() and not whole:
        raise not_floating(where, x)
    kernel, stride, padding = _window(kernel_size, stride, padding, axes, where)
    out = _output(x, kernel, stride, padding, (1,) * axes, ceil_mode, where)
    if divisor == 0:
        raise ArgumentError(tr("{}: divisor must be not zero", where), "divisor_override=None")
    counts = counts_of(x.shape[2:], kernel, stride, padding, out, count_include_pad, divisor)
    if whole:  # sums, divided as integers are in C
        sums = apply(
            AvgPool, x.double(), kernel=kernel, stride=stride, padding=padding, out=out, counts=told_constant(np.array(1.0))._array
        )
        return _laid(sums.div(told_constant(np.asarray(counts, np.float64)), rounding_mode="trunc").to(int64), x, batched)
    y = apply(AvgPool, x, kernel=kernel, stride=stride, padding=padding, out=out, counts=counts)
    return _laid(y, x, batched)


def _range(x: Tensor, axes: int) -> Tensor:
    """x; volumes are float32 within autocast, as in PyTorch."""
    return in_full(x) if axes == 3 else x


def _window(kernel_size, stride, padding, axes: int, where: str):
    kernel = sizes(kernel_size, axes, where, "kernel_size")
    stride = kernel if stride is None or (is_many(stride) and not len(stride)) else sizes(stride, axes, where, "stride")
    padding = sizes(padding, axes, where, "padding")
    for name, given in (("kernel_size", kernel), ("stride", stride)):
        if min(given) < 1:
            raise ArgumentError(tr("{}: {} should be greater than zero, but got {}", where, name, given), f"{name}=2")
    if any(p < 0 or 2 * p > k for p, k in zip(padding, kernel)):
        cause = tr(
            "{}: pad should be at most half of effective kernel size, but got pad={} and kernel_size={}", where, padding, kernel
        )
        raise ArgumentError(cause, "F.pad first for more")
    return kernel, stride, padding


def _output(x: Tensor, kernel, stride, padding, dilation, ceil_mode: bool, where: str) -> tuple[int, ...]:
    """How many windows there are; with ceil_mode also one that begins inside and hangs over."""
    out = []
    for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation):
        count = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1
        if count < 1:
            cause = tr("{}: Output size is too small: a window of {} on a size of {} with padding {}", where, d * (k - 1) + 1, n, p)
            raise ArgumentError(cause, "a smaller kernel_size")
        out.append(count)
    return tuple(out)


def counts_of(size, kernel, stride, padding, out, include_pad: bool, divisor=None):
    """By what each sum is divided, (*O), or the divisor that is given instead."""
    if divisor:
        return told_constant(np.array(divisor))._array
    counts = np.ones((), np.int64)
    for n, k, s, p, o in zip(size, kernel, stride, padding, out):
        start = np.arange(o) * s - p
        stop = np.minimum(start + k, n + p)
        along = stop - start if include_pad else np.minimum(stop, n) - np.maximum(start, 0)
        counts = counts[..., None] * along
    return told_constant(counts)._array


@in_float32
def adaptive_mean(input: Any, output_size: Any, axes: int, where: str) -> Tensor:
    """The means of windows, one axis after the other: the mean of a box is the mean of means of its slices."""
    given, batched = with_batch(_range(tensor(input, where), axes), axes, where)
    x = given.contiguous()
    for axis, size in enumerate(_wanted(x, output_size, where, batched), start=2):
        n = x.shape[axis]
        if size and n % size == 0:
            x = x.unflatten(axis, (size, n // size)).mean(axis + 1) if size != n else x
        else:
            parts = [x.narrow(axis, start, count).mean(axis, keepdim=True) for start, count in _cuts(n, size)]
            x = cat(parts, axis) if parts else x.narrow(axis, 0, 0)
    return _laid(x, given, batched)


def _adaptive_max(axes: int, where: str) -> Callable[..., Any]:
    def adaptive_max_pool(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> Any:
        x, batched = with_batch(_range(float_tensor(input, where), axes), axes, where)
        # the first places in reading order: so the last axis comes first
        values, places = x.detach(), arange(math.prod(x.shape[2:])).reshape(x.shape[2:]).expand(x.shape)
        for axis, size in reversed(list(enumerate(_wanted(x, output_size, where, batched), start=2))):
            best, kept = [], []
            for start, count in _cuts(x.shape[axis], size):
                value, at = values.narrow(axis, start, count).max(axis, keepdim=True)
                best.append(value)
                kept.append(places.narrow(axis, start, count).gather(axis, at))
            values, places = (cat(found, axis) if found else values.narrow(axis, 0, 0) for found in (best, kept))
        y = x.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
        y, places = _laid(y, x, batched), _laid(places, x, batched)
        return (y, places) if return_indices else y

    return adaptive_max_pool


def _adaptive_with_places(pool: Callable[..., Any]) -> Callable[..., Any]:
    def adaptive_max_pool(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> tuple:
        return pool(input, output_size, True)

    return named(adaptive_max_pool, f"{pool.__name__}_with_indices", f"As {pool.__name__}, with the places.")


_ADAPTIVE_MAX = "The maxima of the windows of adaptive_avg_pool{axes}d. return_indices: also where they were, counted in {L}."
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_axes(_adaptive_max, "adaptive_max_pool", _ADAPTIVE_MAX)
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _adaptive_with_places, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)


def _laid(y: Tensor, x: Tensor, batched: bool) -> Tensor:
    """y in memory as the images x; of volumes only the maxima are, as in PyTorch."""
    if not batched:
        return y.squeeze(0)
    return as_images(y, x, lines=True) if x.dim() < 5 else y


def _wanted(x: Tensor, output_size, where: str, batched: bool) -> list[int]:
    """The output size of each axis; None keeps the input's."""
    axes = x.dim() - 2
    given = tuple(output_size) if is_many(output_size) else (output_size,) * axes
    kept = axes > 1 and output_size is not None  # one size of several may be None
    given = tuple(
        x.shape[2 + i] if size is None and kept and i < axes else sizes(size, 1, where, "output_size")[0]
        for i, size in enumerate(given)
    )
    if len(given) != axes or min(given, default=0) < 0:
        cause = tr("{}: expected output_size of {} numbers of 0 or more, or None; got {}", where, axes, output_size)
        raise ArgumentError(cause, "output_size=1")
    if 0 in x.shape[1 if batched else 2 :]:
        raise ShapeError(
            tr("{}: Expected input to have non-zero size for non-batch dimensions, but input has sizes {}", where, list(x.shape)),
            None,
        )
    try:
        np.empty((*x.shape[:2], *given), np.float32)
    except (MemoryError, ValueError):
        cause = tr("{}: no memory holds a result of shape {}", where, (*x.shape[:2], *given))
        raise OutOfMemoryError(cause, "output_size=1") from None
    return list(given)


def _cuts(n: int, size: int) -> list[tuple[int, int]]:
    """(start, length) of the windows floor(o n/O) to ceil((o+1) n/O)."""
    return [(o * n // size, -(-(o + 1) * n // size) - o * n // size) for o in range(size)]
