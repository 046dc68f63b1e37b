"""How many values lie in each of several ranges."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, tr
from badak.ops._check import expect_floats, in_order
from badak.tensor import returns
from badak.tensor.tensor import Tensor


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs in a vector, or the sum of their weights."""
    array = input._array
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and array.min() < 0):
        raise ArgumentError("bincount only supports 1-d non-negative integral inputs.", "x.flatten().long()")
    if weights is None:
        return Tensor._of(np.bincount(array, minlength=minlength))
    kind = weights._array.dtype if weights._array.dtype.kind == "f" else np.float64
    return Tensor._of(np.bincount(array, weights._array, minlength).astype(kind))


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many values fall into each of `bins` equal ranges from min to max (of the data, where both are 0)."""
    in_order("histc", input)
    expect_floats("histc", input)
    array = input._array
    _expect_bins("histogram()", bins, 0)
    if min == max and array.size:
        min, max = float(array.min()), float(array.max())
    if min == max:
        min, max = min - 1, max + 1
    _expect_range("histc", min, max, 0)
    wide = array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind not in "iub" else array
    return Tensor._of(np.histogram(wide, int(bins), (min, max))[0].astype(array.dtype))  # 16 bits cannot say in which range


def _expect_bins(where: str, bins, dim: int) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        raise ArgumentTypeError(tr("{}: argument 'bins' must be int, not {}", where, type(bins).__name__), "bins=100")
    if bins < 1:
        raise ArgumentError(tr("{}: bins must be > 0, but got {} for dimension {}", where, bins, dim), "bins=100")


def _expect_range(where: str, low, high, dim: int) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        cause = tr("{}: dimension {}'s range [{:g}, {:g}] is not finite", where, dim, low, high)
        raise ArgumentError(cause, "x.nan_to_num(), or a range of finite numbers")
    if low > high:
        cause = tr("{}: min should not exceed max, but got min {:g} max {:g} for dimension {}", where, low, high, dim)
        raise ArgumentError(cause, "the lower bound first")


def _equal_ranges(where: str, bins, bounds, values: np.ndarray, dim: int) -> np.ndarray:
    """The edges of `bins` equal ranges from bounds[0] to bounds[1], or of the values; of none from 0 to 1."""
    _expect_bins(where, bins, dim)
    low, high = bounds if bounds is not None else (values.min(), values.max()) if values.size else (0, 1)
    _expect_range(where, low, high, dim)
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return np.linspace(low, high, int(bins) + 1).astype(values.dtype)


def histogram(input: Tensor, bins: Tensor | int = 100, *, range: Sequence[float] | None = None,  # noqa: A002
              weight: Tensor | None = None, density: bool = False,
              out: Tensor | Sequence[Tensor] | None = None) -> Any:  # fmt: skip
    """(hist, bin_edges): how many values, or how much weight, fall into each range, its upper end belonging to the last alone.

    bins: how many equal ranges, from range[0] to range[1] or those of the data; or their edges, in order.
    density: over the sum of all and the width of each.
    """
    in_order("histogram", input)
    if not input.is_floating_point():
        raise DTypeError(tr("histogram: expected a float tensor; got {}", input.dtype), "x.float()")
    array = input._array.reshape(-1)
    if range is not None and len(range) != 2:
        cause = tr("histogram: for a 1-dimensional histogram range should have 2 elements, but got {}", len(range))
        raise ArgumentError(cause, "range=(0.0, 1.0)")
    edges = bins._array if isinstance(bins, Tensor) else _equal_ranges("histogram", bins, range, array, 0)
    weights = None if weight is None else weight._array.reshape(-1)
    counts = np.histogram(array[array == array], edges, weights=None if weights is None else weights[array == array])[0]
    counts = counts.astype(array.dtype)
    if density:
        counts = counts / (counts.sum() * np.diff(edges))
    return returns.histogram(Tensor._of(counts), Tensor._of(edges))


def histogramdd(input: Any, bins: Any, *, range: Sequence[float] | None = None, weight: Any = None, density: bool = False) -> Any:  # noqa: A002
    """(hist, bin_edges) of points (..., N): how many, or how much weight, fall into each box of a grid of N dims.

    bins: how many equal ranges in each dim, one number or N; or N tensors of edges. range: 2 N bounds, low and high of each dim.
    """
    in_order("histogramdd", input)
    if not input.is_floating_point() or input.ndim < 1 or input.shape[-1] < 1:
        cause = tr("histogramdd: expected float points (..., N); got {}, {}", input.dtype, tuple(input.shape))
        raise DTypeError(cause, "x.float()")
    points = input._array.reshape(-1, input.shape[-1])
    dims = points.shape[1]
    edges = list(bins) if isinstance(bins, list | tuple) else [bins] * dims
    if len(edges) != dims or (range is not None and len(range) != 2 * dims):
        cause = tr("histogramdd: expected bins, and two bounds, for each of {} dims; got {} bins", dims, len(edges))
        raise ArgumentError(cause, "bins=10")
    for i, each in enumerate(edges):
        if isinstance(each, Tensor):
            edges[i] = each._array
            continue
        bounds = None if range is None else range[2 * i : 2 * i + 2]
        edges[i] = _equal_ranges("histogramdd", each, bounds, points[:, i], i)
    weights = None if weight is None else weight._array.reshape(-1)
    counts = np.histogramdd(points, edges, weights=weights, density=density)[0].astype(points.dtype)
    return returns.histogramdd(Tensor._of(counts), tuple(Tensor._of(each) for each in edges))
