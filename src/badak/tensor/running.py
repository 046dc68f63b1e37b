"""What has been seen so far along a dim, and areas under curves."""

from badak.core.errors import ArgumentError, ShapeError
from badak.ops import running as ops
from badak.ops._check import axis_of, in_order
from badak.tensor import dtypes, returns
from badak.tensor.apply import apply
from badak.tensor.create import zeros
from badak.tensor.promote import floating, into
from badak.tensor.reduce import cumsum
from badak.tensor.tensor import Tensor


def cummax(input, dim: int, *, out=None):
    """(values, indices): the largest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    return _extreme(ops.CumMax, returns.cummax, input, dim, out)


def cummin(input, dim: int, *, out=None):
    """(values, indices): the smallest entry so far along dim and where it last was.   dx = the sum of dy where it was taken."""
    return _extreme(ops.CumMin, returns.cummin, input, dim, out)


def _extreme(op, result, input, dim: int, out):
    in_order(result.__name__, input)
    dim = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        pair = result(input.clone(), zeros((), dtype=dtypes.int64))
    else:
        pair = result(*apply(op, input, axis=dim))
    return pair if out is None else result(*map(into, out, pair))


def logcumsumexp(input, dim: int, *, out=None) -> Tensor:
    """ln of the running sum of exp(x) along dim.   dx_j = sum_{i >= j} dy_i exp(x_j - y_i)."""
    dim, x = axis_of(dim, input._array.ndim), floating(input, "logcumsumexp")
    if x.is_complex():
        raise ArgumentError(f"logcumsumexp: expected real numbers; got {x.dtype}", "x.exp().cumsum(dim).log()")
    return into(out, apply(ops.LogCumSumExp, x, axis=dim) if x._array.ndim else x.clone())


def trapezoid(y, x=None, *, dx=None, dim: int = -1) -> Tensor:
    """The area under y by trapezoids: sum_i (x_(i+1) - x_i) (y_i + y_(i+1)) / 2, or with steps dx (1) in the place of x's."""
    return _trapezoids(y, x, dx, dim, "trapezoid").sum(dim)


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=None, dim: int = -1) -> Tensor:
    """The area under y up to each point but the first, by trapezoids."""
    return cumsum(_trapezoids(y, x, dx, dim, "cumulative_trapezoid"), dim)


def _trapezoids(y, x, dx, dim: int, name: str) -> Tensor:
    """The area of each trapezoid along dim."""
    if x is not None and dx is not None:
        raise ArgumentError(f"{name}: expected x or dx; got both", "leave one out")
    dim, y = axis_of(dim, y._array.ndim), y if y.is_complex() else floating(y, name)
    n = y.size(dim)
    if n == 0:
        return y.new_zeros([0 if i == dim else size for i, size in enumerate(y.shape)])
    pairs = y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1)
    if x is None:
        return pairs * (0.5 * (1 if dx is None else dx))
    if x.dim() == 1 and x.size(0) != n or x.dim() > 1 and x.size(dim - y.dim()) != n:
        raise ShapeError(f"{name}(): There must be one `x` value for each sample point; got x={tuple(x.shape)}", None)
    steps = x.diff() if x.dim() == 1 else x.diff(dim=dim - y.dim())
    if x.dim() == 1:
        steps = steps.reshape([-1 if i == dim else 1 for i in range(y.dim())])
    return pairs * steps * 0.5
