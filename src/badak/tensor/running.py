"""What has been seen so far along a dim, and areas under curves."""

from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.ops import running as ops
from badak.ops._check import axis_of, expect_floats, in_order
from badak.tensor import dtypes, returns
from badak.tensor.apply import apply
from badak.tensor.concat import concat
from badak.tensor.create import zeros
from badak.tensor.once_more import keep
from badak.tensor.promote import floating, into
from badak.tensor.reduce import cumsum
from badak.tensor.tensor import Tensor


def cummax(input: Tensor, dim: int, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """(values, indices): the largest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    return _extreme(ops.CumMax, returns.cummax, input, dim)


def cummin(input: Tensor, dim: int, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """(values, indices): the smallest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    return _extreme(ops.CumMin, returns.cummin, input, dim)


def _extreme(op, result, input, dim: int):
    in_order(result.__name__, input)
    dim = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        return result(input.clone(), zeros((), dtype=dtypes.int64))
    return result(*apply(op, input, axis=dim))


def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """ln of the running sum of exp(x) along dim.   dx_j = sum_{i >= j} dy_i exp(x_j - y_i)."""
    expect_floats("logcumsumexp", input)
    dim, x = axis_of(dim, input._array.ndim), input
    if x.is_complex():
        raise ArgumentError(tr("logcumsumexp: expected real numbers; got {}", x.dtype), "x.exp().cumsum(dim).log()")
    return into(out, apply(ops.LogCumSumExp, x, axis=dim) if x._array.ndim else x.clone(), exact=True)


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: complex | None = None, dim: int = -1) -> Tensor:
    """The area under y by trapezoids: sum_i (x_(i+1) - x_i) (y_i + y_(i+1)) / 2, or with steps dx (1) in the place of x's."""
    made = _trapezoids(y, x, dx, dim, "trapezoid").sum(dim)
    if x is None:
        keep((made,), y)
    return made


trapz = trapezoid


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: complex | None = None, dim: int = -1) -> Tensor:
    """The area under y up to each point but the first, by trapezoids."""
    made = cumsum(_trapezoids(y, x, dx, dim, "cumulative_trapezoid"), dim)
    if x is None:
        keep((made,), y)
    return made


def _trapezoids(y, x, dx, dim: int, name: str) -> Tensor:
    """The area of each trapezoid along dim."""
    if x is not None and dx is not None:
        raise ArgumentError(tr("{}: expected x or dx; got both", name), "leave one out")
    dim, y = axis_of(dim, y._array.ndim), y if y.is_complex() else floating(y, name)
    n = y.size(dim)
    if n == 0:
        return y.new_zeros([0 if i == dim else size for i, size in enumerate(y.shape)])
    pairs = y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1)
    if x is None:
        return pairs * (0.5 * (1 if dx is None else dx))
    if x.dim() == 1 and x.size(0) != n or x.dim() > 1 and x.size(dim - y.dim()) != n:
        raise ShapeError(tr("{}(): There must be one `x` value for each sample point; got x={}", name, tuple(x.shape)), None)
    steps = x.diff() if x.dim() == 1 else x.diff(dim=dim - y.dim())
    if x.dim() == 1:
        steps = steps.reshape([-1 if i == dim else 1 for i in range(y.dim())])
    return pairs * steps * 0.5


def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence[Tensor] | Sequence[float] | None = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The slope of samples along each dim: central differences inside, one-sided ones at both ends, exact to the first order there
    or the second (edge_order=2).

    spacing: between samples (1), for all dims or one for each; or the coordinates of the samples as a tensor for each dim.
    For unequal steps a before and b after a sample: -b / (a (a + b)) y[i-1] + (b - a) / (a b) y[i] + a / (b (a + b)) y[i+1].
    Source: Fornberg 1988, "Generation of finite difference formulas on arbitrarily spaced grids".
    """
    if edge_order not in (1, 2):
        raise ArgumentError(tr("torch.gradient only supports edge_order=1 and edge_order=2; got {}", edge_order), "edge_order=1")
    y = input if input.is_complex() else floating(input, "gradient")
    dims = range(y.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [axis_of(each, y.dim()) for each in dims]
    if len(set(dims)) != len(dims):
        raise ArgumentError(tr("gradient: a dim appears multiple times in {}", list(dims)), "each dim once")
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise ArgumentError(tr("gradient: expected one spacing for each of {} dims; got {}", len(dims), len(steps)), "spacing=1.0")
    made = tuple(_slope(y, step, axis, edge_order) for step, axis in zip(steps, dims))
    if not any(isinstance(step, Tensor) for step in steps):
        keep(made, input)
    return made


def _slope(y: Tensor, step, axis: int, edge_order: int) -> Tensor:
    n = y.size(axis)
    if n < edge_order + 1:
        cause = tr("torch.gradient expected each dimension size to be at least edge_order+1; got {}", n)
        raise ArgumentError(cause, "more samples")
    y = y.movedim(axis, -1)
    if isinstance(step, Tensor) and step.dim():
        h = step[1:] - step[:-1]
    else:
        h = y.real.new_ones(n - 1) * step if y.is_complex() else y.new_ones(n - 1) * step
    if not isinstance(step, Tensor) or not step.dim():  # 0 y[i] is NaN where y[i] is infinite
        inside = (y[..., 2:] - y[..., :-2]) / (2 * step)
    else:
        a, b = h[:-1], h[1:]
        inside = y[..., :-2] * (-b / (a * (a + b))) + y[..., 1:-1] * ((b - a) / (a * b)) + y[..., 2:] * (a / (b * (a + b)))
    ends = []
    for at, sign in ((0, 1), (-1, -1)):
        first, second, third = (y[..., at + sign * k : at + sign * k + 1 or None] for k in range(3))
        h1 = h[at]
        if edge_order == 1:
            ends.append((second - first) * sign / h1)
        else:
            h2 = h[at + sign]
            whole = (
                first * (-(2 * h1 + h2) / (h1 * (h1 + h2))) + second * ((h1 + h2) / (h1 * h2)) + third * (-h1 / (h2 * (h1 + h2)))
            )
            ends.append(whole * sign)
    return concat([ends[0], inside, ends[1]], -1).movedim(-1, axis).contiguous()
