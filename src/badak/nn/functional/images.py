"""Images and volumes: neighbouring channels that hold each other down, channels exchanged, pools of drawn windows."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.functional._common import real_tensor, tensor
from badak.nn.functional.sizes import over_axes, sizes, with_batch
from badak.nn.functional.vision import interpolate
from badak.tensor import Tensor, arange, channels_last, channels_last_3d, int64, rand
from badak.tensor.pad import pad
from badak.tensor.upcast import in_float32

__all__ = [
    "channel_shuffle", "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "local_response_norm", "native_channel_shuffle", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


@in_float32
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """y = x / (k + alpha mean(x^2 of `size` channels around))^beta, x (N, C, ...), zeros beyond the first and last channel.

    Source: Krizhevsky, Sutskever and Hinton 2012, "ImageNet classification with deep convolutional neural networks", 3.3.
    """
    x = real_tensor(input, "local_response_norm")
    if x.dim() < 3:
        raise ShapeError(tr("Expected 3D or higher dimensionality input (got {} dimensions)", x.dim()), "x (N, C, L)")
    if size < 1:
        raise ArgumentError(tr("local_response_norm: size must be 1 or more; got {}", size), "size=5 channels, as in the source")
    if not x.numel():
        return x
    around = [0, 0] * (x.dim() - 2) + [size // 2, (size - 1) // 2]
    mean = pad(x * x, around).unfold(1, size, 1).mean(-1)
    return x / (mean * alpha + k) ** beta


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """x (N, C, ...) with channel g C/groups + i at i groups + g: groups mixed. Source: Zhang et al. 2018, "ShuffleNet"."""
    x = tensor(input, "channel_shuffle")
    if x.dim() < 3:
        cause = tr("channel_shuffle expects input with > 2 dims, but got input with sizes {}", list(x.shape))
        raise ShapeError(cause, "x (N, C, L): x.unsqueeze(0) makes a batch of one")
    if groups <= 0 or x.shape[1] % groups:
        cause = tr("Number of channels must be divisible by groups. Got {} channels and {} groups.", x.shape[1], groups)
        raise ArgumentError(cause, "groups=1")
    layout = {4: channels_last, 5: channels_last_3d}.get(x.dim())
    if layout and x.is_contiguous(memory_format=layout) and not x.is_contiguous():
        return _shuffled(x.movedim(1, -1), x.dim() - 1, groups).movedim(-1, 1)
    return _shuffled(x, 1, groups)


def _shuffled(x: Tensor, dim: int, groups: int) -> Tensor:
    y = x.unflatten(dim, (groups, x.shape[dim] // groups)).transpose(dim, dim + 1)
    return y.reshape(x.shape)


native_channel_shuffle = channel_shuffle


def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Any = None) -> Tensor:
    """As `interpolate` with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: int | Sequence[int] | None = None, scale_factor: Any = None) -> Tensor:
    """As `interpolate` with mode "bilinear" and align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def _fractional(axes: int, where: str, places_too: bool = False) -> Callable[..., Any]:
    def fractional_max_pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        x, batched = with_batch(tensor(input, where), axes, where)
        kernel = sizes(kernel_size, axes, where, "kernel_size")
        if output_size is None and output_ratio is None:
            raise ArgumentError(tr("{} requires specifying either an output_size or an output_ratio", where), "output_ratio=0.5")
        if output_size is None:
            ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * axes
            output_size = tuple(int(n * ratio) for n, ratio in zip(x.shape[2:], ratios))
        out = sizes(output_size, axes, where, "output_size")
        if batched and 0 in x.shape[1:]:
            cause = tr(
                "{}: Expected input to have non-zero size for non-batch dimensions, but input has sizes {}", where, list(x.shape)
            )
            raise ShapeError(cause, None)
        for n, k, size in zip(x.shape[2:], kernel, out):
            if size < 0 or size + k - 1 > n:
                cause = tr("{}(): pool {} with output size {} is too large for an input of size {}", where, k, size, n)
                raise ShapeError(cause, "output_size + kernel_size - 1 is the input's size at most")
        if _random_samples is None:
            _random_samples = rand(*x.shape[:2], axes, dtype=x.dtype, device=x.device)
        else:
            _random_samples = (_random_samples if _random_samples.dim() == 3 else _random_samples.unsqueeze(0))[: x.shape[0]]
        order = reversed(range(2)) if axes == 2 else range(3)  # in two dims the first number is that of the width
        at: Tensor | None = None
        for axis, drawn in enumerate(order):
            places = _starts(_random_samples[..., drawn], x.shape[2 + axis], kernel[axis], out[axis])
            shape = [1] * (2 * axes)
            shape[axis], shape[axes + axis] = out[axis], kernel[axis]
            places = places.reshape(*x.shape[:2], *shape)
            at = places if at is None else at * x.shape[2 + axis] + places
        assert at is not None
        flat = at.reshape(*x.shape[:2], math.prod(out) * math.prod(kernel))
        windows = x.flatten(2).gather(2, flat).reshape(*x.shape[:2], *out, math.prod(kernel))
        y, chosen = windows.max(-1)
        index = flat.reshape(windows.shape).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
        if not batched:
            y, index = y.squeeze(0), index.squeeze(0)
        return (y, index) if places_too or return_indices else y

    return fractional_max_pool


_CHANCE = """The largest number of windows that overlap by chance, x (N, C, {L}) or (C, {L}); dx = dy at that place.

Window i of O along an axis of size n begins at floor((i + u) a) - floor(u a), a = (n - k) / (O - 1), the last one at n - k,
with one u in [0, 1) for each axis and plane, drawn unless `_random_samples` (N, C, {axes}) are given. output_ratio: O / n.
Source: Graham 2014, "Fractional max-pooling".
"""
_PLACES = "As fractional_max_pool{axes}d, with the places."
fractional_max_pool2d, fractional_max_pool3d = over_axes(_fractional, "fractional_max_pool", _CHANCE, least=2)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = over_axes(
    partial(_fractional, places_too=True), "fractional_max_pool", _PLACES, "_with_indices", least=2
)


def _starts(u: Tensor, n: int, kernel: int, out: int) -> Tensor:
    """The places (N, C, O, k) of the windows of one axis."""
    i = arange(out, dtype=u.dtype)
    u = u.unsqueeze(-1)
    if out > 1:
        step = (n - kernel) / (out - 1)
        begins = ((u + i) * step).to(int64) - (u * step).to(int64)
        begins = begins.where(i < out - 1, n - kernel)
    else:
        begins = ((u * 0).to(int64) + (n - kernel))[..., :out]
    return begins.unsqueeze(-1) + arange(kernel)
