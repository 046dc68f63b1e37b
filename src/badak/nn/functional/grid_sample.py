"""Images looked at where a grid says: grid_sample and affine_grid, made of operations that have gradients of every order."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, NotSupportedError, ShapeError, tr, warn_once
from badak.nn.functional._common import tensor
from badak.nn.functional.vision import far, near
from badak.tensor import Tensor, bool_, int64, linspace, stack, where
from badak.tensor.upcast import in_float32

__all__ = ["affine_grid", "grid_sample"]

MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@in_float32
def grid_sample(
    input: Tensor, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """y[n, c, o] = the image x (N, C, H, W) or (N, C, D, H, W) at the place grid[n, o].

    grid (N, *O, 2) or (N, *O, 3): x, y (and z) from -1 at one border to 1 at the other, which are the middles of the
    outermost pixels with align_corners, and their outer edges without. mode: "bilinear" (of 8 neighbours for volumes),
    "nearest" (halves to the even one), "bicubic" (images only). Beyond the border lie zeros, the border's own pixels, or the
    image reflected. dx: dy with the weight that each pixel had, added; dgrid: the slope of these weights, 0 for "nearest" and
    where the place was moved to the border.
    Source: Jaderberg et al. 2015, "Spatial transformer networks"; Keys 1981 for the cubic kernel.
    """
    x, grid = tensor(input, "grid_sample"), tensor(grid, "grid_sample", "grid")
    if mode not in MODES:
        cause = tr("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{}'", mode)
        raise ArgumentError(cause, "mode='bilinear'")
    if padding_mode not in PADDINGS:
        cause = tr("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{}'",
                   padding_mode)  # fmt: skip
        raise ArgumentError(cause, "padding_mode='zeros'")
    axes = _check(x, grid, mode)
    sizes, corners = x.shape[2:], bool(align_corners)
    places = [_unscaled(grid[..., axes - 1 - a], sizes[a], corners).flatten(1) for a in range(axes)]  # (N, L) for each axis
    if mode == "bicubic":
        y = _cubic(x, places, padding_mode, corners)
    else:
        places = [_within(at, size, padding_mode, corners) for at, size in zip(places, sizes)]
        y = _nearest(x, places) if mode == "nearest" else _linear(x, places)
    return y.reshape(*x.shape[:2], *grid.shape[1:-1])


def _check(x: Tensor, grid: Tensor, mode: str) -> int:
    """The number of axes of the image."""
    axes = x.dim() - 2
    if axes not in (2, 3) or grid.dim() != x.dim():
        cause = tr("grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
                   "{} and grid with sizes {}", list(x.shape), list(grid.shape))  # fmt: skip
        raise ShapeError(cause, "x (N, C, H, W) with grid (N, H_out, W_out, 2)")
    if grid.shape[0] != x.shape[0]:
        cause = tr("grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
                   "{} and grid with sizes {}", list(x.shape), list(grid.shape))  # fmt: skip
        raise ShapeError(cause, "grid.expand(x.shape[0], -1, -1, -1)")
    if grid.shape[-1] != axes:
        cause = tr(
            "grid_sampler(): expected grid to have size {} in last dimension, but got grid with sizes {}", axes, list(grid.shape)
        )
        raise ShapeError(cause, "x, y (and z) on the last axis")
    if 0 in x.shape[2:]:
        cause = tr("grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {}", list(x.shape))
        raise ShapeError(cause, "at least one pixel: leave empty images out")
    if not x.is_floating_point() or x.dtype != grid.dtype:
        cause = tr("grid_sampler(): expected input and grid to have same floating dtype, but input has {} and grid has {}", x.dtype,
                   grid.dtype)  # fmt: skip
        raise DTypeError(cause, "grid.to(x.dtype)")
    if axes == 3 and mode == "bicubic":
        raise NotSupportedError("grid_sampler(): bicubic interpolation only supports 4D input", "mode='bilinear'")
    return axes


def _unscaled(at: Tensor, size: int, corners: bool) -> Tensor:
    """Places from -1 to 1 as numbers of pixels."""
    return (at + 1) * ((size - 1) / 2) if corners else ((at + 1) * size - 1) * 0.5


def _within(at: Tensor, size: int, padding: str, corners: bool) -> Tensor:
    """Places beyond the border moved where there are pixels; there they have no slope."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        at = _reflected(at, 0.0, size - 1.0) if corners else _reflected(at, -0.5, size - 0.5)
    return where((at > 0) & (at < size - 1), at, at.detach().nan_to_num(0.0).clamp(0, size - 1))


def _reflected(at: Tensor, low: float, high: float) -> Tensor:
    """Places thrown back at low and at high, as often as it takes."""
    span = high - low
    if span == 0:
        return at.detach() * 0
    away = at - low
    away = where(away < 0, -away, away)
    rest = away.fmod(span)
    turns = ((away.detach() - rest.detach()) / span).round()
    return where(turns.remainder(2) == 0, rest + low, span - rest + low)


def _taken(x: Tensor, places: list[Tensor]) -> Tensor:
    """x (N, C, *S) at whole places (N, L), a tensor for each axis: (N, C, L), 0 beyond the border."""
    there, at = None, None
    for size, index in zip(x.shape[2:], places):
        inside = (index >= 0) & (index < size)
        there = inside if there is None else there & inside
        index = where(inside, index, 0.0).to(int64)
        at = index if at is None else at * size + index
    assert at is not None and there is not None
    found = x.flatten(2).gather(2, at.unsqueeze(1).expand(-1, x.shape[1], -1))
    return where(there.unsqueeze(1), found, x.new_zeros(()))


def _nearest(x: Tensor, places: list[Tensor]) -> Tensor:
    y = _taken(x, [at.detach().round() for at in places])
    if places[0].requires_grad:  # a gradient of zeros, as in PyTorch
        never = y.new_zeros((), dtype=bool_)
        y = y + where(never, places[0], 0.0).unsqueeze(1)
    return y


def _linear(x: Tensor, places: list[Tensor]) -> Tensor:
    """The sum over the corners around a place of the pixel there times, for each axis, 1 - its distance."""
    first = [at.detach().floor() for at in places]
    far = [at - low for at, low in zip(places, first)]
    total = x.new_zeros(())
    for corner in range(2 ** len(places)):
        upper = [corner >> a & 1 for a in reversed(range(len(places)))]
        weight = math.prod((f if up else 1 - f for f, up in zip(far, upper)), start=1)
        pixel = _taken(x, [low + up for low, up in zip(first, upper)])
        total = total + _weighed(pixel, weight)
    return total


def _weighed(pixel: Tensor, weight) -> Tensor:
    """pixel (N, C, L) times weight (N, L); a pixel that is not there counts 0 whatever its weight, infinite or not a number."""
    weight = weight.unsqueeze(1)
    return pixel * where(weight.isfinite(), weight, weight.new_zeros(()))


def _cubic(x: Tensor, places: list[Tensor], padding: str, corners: bool) -> Tensor:
    """The sum over 4 by 4 pixels, weighed along each axis by the cubic kernel."""
    first = [at.detach().floor() for at in places]
    weights = [_kernel(at - low) for at, low in zip(places, first)]
    total = x.new_zeros(())
    for i in range(4):
        row = _within(first[0] + (i - 1), x.shape[2], padding, corners)
        for j in range(4):
            column = _within(first[1] + (j - 1), x.shape[3], padding, corners)
            total = total + _weighed(_taken(x, [row.round(), column.round()]), weights[0][i] * weights[1][j])
    return total


def _kernel(t: Tensor) -> list[Tensor]:
    """The weights of the pixels at distances 1 + t, t, 1 - t, 2 - t."""
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@in_float32
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid (N, *O, 2 or 3) for grid_sample that theta (N, 2, 3) or (N, 3, 4) makes of places p: theta (p, 1).

    size: of the result of grid_sample, (N, C, H, W) or (N, C, D, H, W). dtheta: dgrid times (p, 1), summed.
    """
    theta, size = tensor(theta, "affine_grid", "theta"), tuple(size)
    axes = len(size) - 2
    if not theta.is_floating_point():
        raise DTypeError(tr("Expected theta to have floating point type, but got {}", theta.dtype), "theta.float()")
    if axes not in (2, 3) or tuple(theta.shape) != (size[0], axes, axes + 1):
        cause = tr("affine_grid: Expected a batch of {}D affine matrices of shape Nx{}x{} for size {}. Got {}.", axes, axes,
                   axes + 1, tuple(size), tuple(theta.shape))  # fmt: skip
        raise ShapeError(cause, "theta (N, 2, 3) with size (N, C, H, W)")
    if min(size) <= 0:
        cause = tr("affine_grid: Expected non-zero, positive output size. Got {}", list(size))
        raise ShapeError(cause, "size (N, C, H, W) or (N, C, D, H, W), each 1 or more")
    if align_corners and min(size[2:]) == 1:
        warn_once(
            ("affine_grid", "one pixel"),
            "affine_grid: align_corners=True puts the only pixel of a size of 1 in the middle, 0. "
            "See the documentation of affine_grid for details.",
            "align_corners=False",
        )
    lines = [_line(n, bool(align_corners), theta) for n in size[2:]]
    shape = size[2:]
    parts = [line.reshape([-1 if a == axis else 1 for a in range(axes)]).expand(*shape) for axis, line in enumerate(lines)]
    places = stack([*reversed(parts), theta.new_ones(shape)], -1).reshape(1, -1, axes + 1)
    return (places @ theta.mT).reshape(size[0], *shape, axes)


def _line(n: int, corners: bool, like: Tensor) -> Tensor:
    """The middles of n pixels, from -1 to 1."""
    if n == 1:
        return like.new_zeros(1)
    line = linspace(-1, 1, n, dtype=like.dtype)
    return line if corners else line * ((n - 1) / n)


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """As `nn.functional.grid_sample`, with the modes as numbers: bilinear, nearest, bicubic; zeros, border, reflection."""
    known = range(3)
    if interpolation_mode not in known or padding_mode not in known:
        cause = tr("grid_sampler(): expected modes 0, 1 or 2; got {} and {}", interpolation_mode, padding_mode)
        raise ArgumentError(cause, "nn.functional.grid_sample, which takes their names")
    return grid_sample(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """As `nn.functional.affine_grid`."""
    return affine_grid(theta, size, align_corners)
