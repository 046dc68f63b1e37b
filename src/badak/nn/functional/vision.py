"""Images and sequences of patches: windows as columns, sizes changed, channels traded for pixels."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.nn.functional.pooling import adaptive_mean
from badak.nn.functional.sizes import check_moves, sizes, with_batch
from badak.ops._check import expect_floats
from badak.ops.conv import output_size as windows
from badak.ops.windows import Fold, Unfold
from badak.tensor import Tensor, apply, uint8
from badak.tensor.convert import as_images
from badak.tensor.once_more import once_more
from badak.tensor.pad import expect_some
from badak.tensor.promote import told_constant
from badak.tensor.upcast import in_float32

__all__ = ["fold", "interpolate", "pixel_shuffle", "pixel_unshuffle", "unfold", "upsample"]

CUBIC = -0.75  # the free number of the cubic kernel of Keys 1981, as PyTorch has it


def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """The windows of x (N, C, H, W) as columns: (N, C prod(kernel), L), L windows in reading order. dx: `fold` of dy."""
    x, batched = with_batch(_no_integers(input, "unfold"), 2, "unfold")
    kernel, dilation = sizes(kernel_size, 2, "unfold", "kernel_size"), sizes(dilation, 2, "unfold", "dilation")
    padding, stride = sizes(padding, 2, "unfold", "padding"), sizes(stride, 2, "unfold", "stride")
    expect_some(x, 2)
    out = _blocks("unfold", x.shape[2:], kernel, stride, padding, dilation)
    y = apply(Unfold, x, kernel=kernel, stride=stride, padding=padding, dilation=dilation, out=out)
    y = y.reshape(x.shape[0], x.shape[1] * math.prod(kernel), math.prod(out))
    return y if batched else y.squeeze(0)


def _no_integers(x, where: str) -> Tensor:
    expect_floats(where, tensor(x, where), also="b")
    return x


def _blocks(where: str, size, kernel, stride, padding, dilation) -> tuple[int, ...]:
    """How many windows there are along each axis."""
    check_moves(where, kernel, stride, padding, dilation)
    ends = [n + 2 * p - d * (k - 1) - 1 for n, k, p, d in zip(size, kernel, padding, dilation)]
    if min(ends) < 0:
        raise ShapeError(
            tr("{}: Given spatial size {}, kernel_size={}, dilation={}, padding={}, stride={}, calculated shape of the array of "
               "sliding blocks as {}, but its components must be at least one.", where, tuple(size), kernel, dilation, padding,
               stride, tuple(end // s + 1 for end, s in zip(ends, stride))),
            "a smaller kernel_size, or a larger padding",
        )  # fmt: skip
    return windows(size, kernel, stride, padding, dilation)


def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Columns (N, C prod(kernel), L) added up into an image (N, C, *output_size): the adjoint of `unfold`."""
    x, batched = with_batch(_no_integers(input, "fold"), 1, "fold")
    expect_some(x, 1)
    size, kernel = sizes(output_size, 2, "fold", "output_size"), sizes(kernel_size, 2, "fold", "kernel_size")
    dilation, padding = sizes(dilation, 2, "fold", "dilation"), sizes(padding, 2, "fold", "padding")
    stride = sizes(stride, 2, "fold", "stride")
    out = _blocks("fold", size, kernel, stride, padding, dilation)
    if x.shape[1] % math.prod(kernel):
        cause = tr("fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input {} and "
                   "kernel_size={}", tuple(x.shape), kernel)  # fmt: skip
        raise ShapeError(cause, "the arguments that unfold was given")
    if x.shape[2] != math.prod(out):
        cause = tr("fold: expected input's size at dimension 2 to match the calculated number of sliding blocks {} = {}, for "
                   "output_size={} and kernel_size={}; got input {}", " * ".join(map(str, out)), math.prod(out), size, kernel,
                   tuple(x.shape))  # fmt: skip
        raise ShapeError(cause, "the arguments that unfold was given")
    cols = x.reshape(x.shape[0], x.shape[1] // math.prod(kernel), *kernel, *out)
    y = apply(Fold, cols, size=size, stride=stride, padding=padding, dilation=dilation)
    return y if batched else y.squeeze(0)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """x (..., C r^2, H, W) as (..., C, H r, W r): y[c, h r + i, w r + j] = x[c r^2 + i r + j, h, w]. Shi et al. 2016."""
    x, r = tensor(input, "pixel_shuffle"), int(upscale_factor)
    *lead, C, H, W = x.shape
    if C % (r * r):
        cause = tr("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
                   "input.size(-3)={} is not divisible by {}", C, r * r)  # fmt: skip
        raise ShapeError(cause, None)
    y = x.reshape(math.prod(lead), C // (r * r), r, r, H, W).permute(0, 1, 4, 2, 5, 3)
    return as_images(y.reshape(*lead, C // (r * r), H * r, W * r).contiguous(), x)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: x (..., C, H r, W r) as (..., C r^2, H, W)."""
    x, r = tensor(input, "pixel_unshuffle"), int(downscale_factor)
    *lead, C, H, W = x.shape
    if H % r or W % r:
        cause = tr("pixel_unshuffle expects height and width to be divisible by downscale_factor, but got input {} and "
                   "downscale_factor {}", tuple(x.shape), r)  # fmt: skip
        raise ShapeError(cause, None)
    y = x.reshape(math.prod(lead), C, H // r, r, W // r, r).permute(0, 1, 3, 5, 2, 4)
    return as_images(y.reshape(*lead, C * r * r, H // r, W // r).contiguous(), x)


@once_more
@in_float32
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: Any = False,
) -> Tensor:
    """x (N, C, *S) in another size, axis by axis: y = sum of taps w_t x[i_t].

    antialias: where an axis becomes shorter by r, the taps reach r times as far (and bicubic's constant is -1/2).
    mode: nearest, nearest-exact; linear, bilinear, trilinear (1, 2, 3 axes); bicubic; area (means). Output position o lies at
    (o + 1/2) S/O - 1/2 in x, or with align_corners at o (S-1)/(O-1).
    """
    x = tensor(input, "interpolate")
    axes = x.dim() - 2
    in_bytes = x.dtype == uint8 and mode in ("bilinear", "bicubic")
    if antialias and not (mode in ("bilinear", "bicubic") and axes == 2 and (x.is_floating_point() or in_bytes)):
        cause = tr("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input; got "
                   "mode={!r} and {}-D of {}", mode, x.dim(), x.dtype)  # fmt: skip
        raise ArgumentError(cause, "mode='bilinear' and x.float() of shape (N, C, H, W)")
    if mode not in ("nearest", "nearest-exact", "area", {1: "linear", 2: "bilinear", 3: "trilinear"}.get(axes), "bicubic") or (
        mode == "bicubic" and axes != 2
    ):
        raise NotSupportedError(tr("interpolate: Got {}D input, but mode {!r} does not fit it", x.dim(), mode), "mode='nearest'")
    if not (x.is_floating_point() or in_bytes or (mode.startswith("nearest") and x.dtype == uint8)):
        raise NotSupportedError(tr("interpolate: mode {!r} is not implemented for {}", mode, x.dtype), "x.float()")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        cause = tr("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
        raise ArgumentError(cause)
    sizes_out, scales = _sizes_and_scales(x, size, scale_factor, recompute_scale_factor, axes)
    if min((*x.shape[2:], *sizes_out)) <= 0:
        cause = tr("interpolate: Input and output sizes should be greater than 0, but got input {} and output {}",
                   list(x.shape[2:]), list(sizes_out))  # fmt: skip
        raise ShapeError(cause, "size=(H, W), or a larger scale_factor")
    if mode == "area":
        return adaptive_mean(x, sizes_out, axes, "interpolate")
    if antialias or in_bytes:
        for axis in (3, 2):
            real: Any = np.float64 if x.dtype.itemsize == 8 or in_bytes else np.float32
            how = x.shape[axis], sizes_out[axis - 2], scales[axis - 2], bool(align_corners), real
            weights = _reaching(mode, *how) if antialias else _dense(_taps(mode, *how), x.shape[axis])
            product = (_byte_product if in_bytes else _product)(x.transpose(axis, -1), weights)
            x = product.transpose(axis, -1).contiguous()
        return as_images(x, input)
    for axis, (n, scale) in enumerate(zip(sizes_out, scales), start=2):
        taps = _taps(mode, x.shape[axis], n, scale, bool(align_corners), np.float64 if x.dtype.itemsize == 8 else np.float32)
        x = _resample(x, axis, taps)
    return as_images(x, input)


def _sizes_and_scales(x: Tensor, size, scale_factor, recompute, axes: int):
    """The output sizes, and for each axis the given scale factor if it counts."""
    if (size is None) == (scale_factor is None):
        what = "either" if size is None else tr("only one of")
        raise ArgumentError(tr("interpolate: {} size or scale_factor should be defined", what), "size=(H, W)")
    if size is not None:
        return sizes(size, axes, "interpolate", "size"), (None,) * axes
    factors = tuple(scale_factor) if isinstance(scale_factor, tuple | list) else (scale_factor,) * axes
    if len(factors) != axes:
        raise ArgumentError(tr("interpolate: expected {} scale factors; got {}", axes, factors), None)
    made = tuple(math.floor(float(n) * f) for n, f in zip(x.shape[2:], factors))
    return made, (None,) * axes if recompute else factors


def _taps(mode: str, n: int, out: int, factor, align_corners: bool, real) -> list[tuple]:
    """(indices, weights) for each tap, both of length `out`; weights None means 1."""
    o = np.arange(out)
    scale = _scale(n, out, factor, False, real)
    if mode.startswith("nearest"):
        at = np.floor((o.astype(real) + real(0.5 if mode == "nearest-exact" else 0)) * scale).astype(np.int64)
        return [(at.clip(0, n - 1), None)]
    if align_corners:
        where = o.astype(real) * _scale(n, out, factor, True, real)
    else:
        where = (o.astype(real) + real(0.5)) * scale - real(0.5)
    if mode == "bicubic":
        first = np.floor(where).astype(np.int64)
        t = where - first.astype(real)
        distances = [1 + t, t, 1 - t, 2 - t]
        return [((first - 1 + i).clip(0, n - 1), _cubic(d)) for i, d in enumerate(distances)]
    where = where.clip(0, None)
    first = np.minimum(np.floor(where).astype(np.int64), n - 1)
    t = (where - first.astype(real)).clip(0, 1).astype(real)
    return [(first, 1 - t), (np.minimum(first + 1, n - 1), t)]


def _scale(n: int, out: int, factor, align_corners: bool, real):
    """How far apart in x two neighbours of the output lie."""
    if align_corners:
        return real(n - 1) / real(out - 1) if out > 1 else real(0)
    return real(1 / factor) if factor else real(n) / real(max(out, 1))


def _reaching(mode: str, n: int, out: int, factor, align_corners: bool, real) -> np.ndarray:
    """Weights (S, O) of values that are each a mean over all that lies under them."""
    scale = _scale(n, out, factor, align_corners, real)
    wide = max(scale, real(1))
    reach = real(2 if mode == "bicubic" else 1) * wide
    center = scale * (np.arange(out).astype(real) + real(0.5))
    first = np.maximum((center - reach + real(0.5)).astype(np.int64), 0)
    last = np.minimum((center + reach + real(0.5)).astype(np.int64), n)
    at = np.arange(n)[:, None]
    distance = np.abs((at - center + real(0.5)) * (1 / wide)).astype(real)
    share = np.where(distance < 2, _cubic(distance, real(-0.5)), 0) if mode == "bicubic" else (1 - distance).clip(0)
    weights = np.where((at >= first) & (at < last), share, 0).astype(real)
    return weights / weights.sum(0)


def _dense(taps: list[tuple], n: int) -> np.ndarray:
    """The same as weights (S, O)."""
    weights = np.zeros((n, len(taps[0][0])))
    for at, weight in taps:
        np.add.at(weights, (at, np.arange(len(at))), weight)
    return weights


def _product(x: Tensor, weights: np.ndarray) -> Tensor:
    return x @ told_constant(weights).to(x.dtype)


def _byte_product(x: Tensor, weights: np.ndarray) -> Tensor:
    """Bytes times weights of 15 bits, rounded to bytes again after each axis: Pillow's numbers, and PyTorch's."""
    bits = next((i for i in range(22) if int(0.5 + weights.max() * 2 ** (i + 1)) >= 1 << 15), 22)
    whole = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
    return ((_product(x.double(), whole) + 2 ** (bits - 1)) / 2**bits).floor().clamp(0, 255).to(x.dtype)


def _cubic(d, a=CUBIC):
    return np.where(d <= 1, near(d, a), far(d, a)).astype(d.dtype)


def near(d: Any, a: float = CUBIC) -> Any:
    """The cubic kernel of Keys 1981 at distances up to 1."""
    return ((a + 2) * d - (a + 3)) * d * d + 1


def far(d: Any, a: float = CUBIC) -> Any:
    """The cubic kernel at distances from 1 to 2."""
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def _resample(x: Tensor, axis: int, taps: list[tuple]) -> Tensor:
    shape = (-1, *(1,) * (x.dim() - 1 - axis))
    total = None
    for index, weight in taps:
        part = x.index_select(axis, told_constant(index))
        if weight is not None:
            part = part * told_constant(np.ascontiguousarray(weight)).to(x.dtype).reshape(shape)
        total = part if total is None else total + part
    return x if total is None else total


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
) -> Tensor:
    """As `interpolate`, under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)
