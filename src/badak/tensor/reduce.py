"""Variances, extremes, norms, and what is counted: over one dim, several, or all. Sums and the like: `reductions.py`.

dim       an int, a tuple of ints, or None for all; negative ones count from the end. `axis` is another word for it
keepdim   leave the reduced dims in the shape with size 1
dtype     compute in this dtype
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr, warn
from badak.core.public_api.taken import named
from badak.kernels.memory_format import row_major
from badak.ops import reduce as ops
from badak.ops._check import axis_of, expect_floats, expect_real, in_order, keepdim_error
from badak.ops.along import TakeAlong
from badak.ops.linalg import SVD
from badak.tensor import dtypes, returns
from badak.tensor.apply import apply
from badak.tensor.arithmetic import add, sub
from badak.tensor.compare import logical_xor
from badak.tensor.complex import imag, real
from badak.tensor.concat import cat
from badak.tensor.convert import cast
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.elementwise import maximum, minimum
from badak.tensor.pointwise import sqrt
from badak.tensor.promote import into, plain
from badak.tensor.reductions import amax, amin, axes_of, counting, mean, not_empty, reduced, sum
from badak.tensor.shape import movedim
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32

_SPREAD = """{says}

Args:
    dim: an axis, several, or None for all
    unbiased: False for correction 0
    keepdim: keep them with size 1
    correction: what is subtracted from n
    axis: NumPy's name of dim
    out: where the result is written

Returns: tensor without these axes

Example:
    >>> badak.tensor([1.0, 3.0]).{name}(unbiased=False).item()
    1.0
"""


def _spread(name: str, op, says: str) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        axis: int | Sequence[int] | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        if isinstance(dim, bool):  # var(False) says that it is biased
            dim, unbiased = None, dim
        if input._array.dtype.kind in "iub":
            raise DTypeError(tr("{}: only support floating point and complex dtypes; got {}", name, input.dtype), "x.float()")
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        if input._array.dtype.kind != "c":
            y = reduced(op, input, dim, keepdim, axis, None, correction=correction)
        else:  # spread in the plane is that along both axes
            parts = (reduced(ops.Var, part, dim, keepdim, axis, None, correction=correction) for part in (real(input), imag(input)))
            y = sqrt(add(*parts)) if op is ops.Std else add(*parts)
        if input._array.size // builtins.max(1, y._array.size) <= correction:
            warn(tr("{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                    "(input numel divided by output numel).", name), "correction=0")  # fmt: skip
        return into(out, y)

    return named(function, name, _SPREAD.format(name=name, says=says))


var = _spread(
    "var", ops.Var,
    "sum (x - mean)^2 / (n - correction), correction 1 (unbiased) unless told.   dx = 2 dy (x - mean) / (n - correction).",
)  # fmt: skip
std = _spread("std", ops.Std, "The root of var.   dx = dy (x - mean) / (y (n - correction)), 0 where y = 0.")


def _with_mean(spread: Callable[..., Tensor]) -> Callable[..., tuple]:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> tuple:
        over = None if isinstance(dim, bool) else dim
        return spread(input, dim, unbiased, keepdim, correction=correction), mean(input, over, keepdim)

    return named(function, f"{spread.__name__}_mean", f"({spread.__name__}, mean).")


var_mean, std_mean = _with_mean(var), _with_mean(std)


def along(input: Tensor, index: Any, dim: int, keepdim: bool = True) -> tuple:
    """(values, indices) for an array of one index in each row along dim (kept as an axis of size 1)."""
    if type(keepdim) is not bool:
        raise keepdim_error(keepdim)
    if index is None:  # of a 0-d tensor
        return input.clone(), Tensor._of(np.zeros((), np.int64))
    indices = Tensor._of(np.expand_dims(index, dim))
    values = apply(TakeAlong, input, indices, dim=dim)
    return (values, indices) if keepdim else (values.squeeze(dim), Tensor._of(indices._array.squeeze(dim)))


_EXTREME = """{name}() is the {est} value; {name}(dim) the pair (values, indices) along dim; {name}(other) the {er} of two.

dx: shared evenly by equal entries without dim; with dim, to the entry at `indices` (the first of equal ones).

Args:
    input: any shape
    dim: an axis, or another tensor
    keepdim: keep it with size 1
    axis: NumPy's name of dim
    other: the other tensor
    out: where the result is written

Returns: a tensor, or the pair (values, indices)

Example:
    >>> badak.tensor([[1, 5, 2]]).{name}(dim=1).indices.tolist()
    {example}
"""


def _extreme(name: str, whole, pick, pair, kind, **words) -> Callable[..., Any]:
    def position(array, dim: int):
        return np.asarray(pick(array, dim))

    position.__qualname__ = f"_arg{name}"
    position = events.pure(position, along="dim")

    def function(
        input: Tensor,
        dim: int | Tensor | None = None,
        keepdim: bool = False,
        *,
        axis: int | None = None,
        other: Tensor | None = None,
        out: Any = None,
    ) -> Any:
        in_order(name, input)
        dim = axis if axis is not None else dim if other is None else other
        if isinstance(dim, Tensor):
            return into(out, pair(input, dim))
        not_empty(name, input, dim)
        if dim is None:
            return into(out, apply(whole, input, nan=True))
        dim = axis_of(dim, input._array.ndim)
        return kind(*along(input, position(input._array, dim) if input._array.ndim else None, dim, keepdim))

    return named(function, name, _EXTREME.format(name=name, **words))


max = _extreme("max", ops.Amax, np.argmax, maximum, returns.max, est="largest", er="larger", example="[1]")
min = _extreme("min", ops.Amin, np.argmin, minimum, returns.min, est="smallest", er="smaller", example="[0]")


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """(min, max)."""
    return returns.aminmax(amin(input, dim, keepdim), amax(input, dim, keepdim))


def logsumexp(input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """ln sum exp(x), shifted by the maximum.   dx = dy exp(x - y); 0 where all x are -inf (NaN in PyTorch)."""
    x = cast(input, dtypes.default_dtype()) if input._array.dtype.kind in "iub" else input
    return reduced(ops.LogSumExp, x, dim, keepdim, None, out)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """(sum |x|^p)^(1/p); p may be inf, -inf, 0 (the number of nonzeros) or "fro" (2).   p = 2: dx = dy x / y.

    Args:
        p: a number, inf, -inf or "fro"
        dim: an axis, several, or None for all
        keepdim: keep them with size 1
        out: where the result is written
        dtype: of the result

    Returns: tensor without these axes

    Example:
        >>> badak.tensor([3.0, 4.0]).norm().item()
        5.0
    """
    if p == "nuc":
        return into(out, _nuclear(input, dim, keepdim), exact=True)
    x = input if dtype is None else cast(input, dtypes.to_dtype(dtype))
    if x._array.dtype.kind in "iub":
        raise DTypeError(tr("norm: expected a floating or complex dtype; got {}", x.dtype), "x.float()")
    p = 2 if p in ("fro", None) else plain(p) if isinstance(p, float) else p
    return into(out, reduced(ops.Norm, x, dim, keepdim, None, None, p=p), exact=True)


def _nuclear(input, dim, keepdim: bool) -> Tensor:
    """The sum of the singular values of matrices."""
    rows, columns = axes_of((-2, -1) if dim is None else dim, input._array.ndim)
    y = apply(SVD, movedim(input, (rows, columns), (-2, -1)))[1].sum(-1, True).unsqueeze(-1)
    y = movedim(y, (-2, -1), (rows, columns))
    return y if keepdim else y.squeeze((rows, columns))


@in_float32
def dist(input: Tensor, other: Tensor, p: complex = 2) -> Tensor:
    """The p-norm of input - other."""
    return norm(input - other, p)


def _truth(name: str, ufunc, doc: str) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        axis: int | Sequence[int] | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        if type(keepdim) is not bool:
            raise keepdim_error(keepdim)
        array = input._array
        dim = dim if axis is None else axis
        axes = () if isinstance(dim, list | tuple) and not dim else axes_of(dim, array.ndim)  # (): no dim, as in PyTorch
        y = row_major(np.asarray(ufunc.reduce(array, axis=axes, keepdims=keepdim, dtype=bool)))
        bytes_ = array.dtype == np.uint8 if out is None else out._array.dtype == np.uint8
        return into(out, Tensor._of(y.astype(np.uint8) if bytes_ else y), exact=True)

    return events.pure(named(function, name, doc), along="dim")


any = _truth("any", np.logical_or, "Whether any value is nonzero: over dim, or over all. uint8 gives uint8, as in PyTorch.")
all = _truth("all", np.logical_and, "Whether every value is nonzero: over dim, or over all. uint8 gives uint8, as in PyTorch.")


def count_nonzero(input: Tensor, *dims: int | Sequence[int], dim: int | Sequence[int] | None = None) -> Tensor:
    """How many values are not 0."""
    return _count(input, dim if not dims else dims[0] if len(dims) == 1 else dims)


@events.pure(along="dim")
def _count(input, dim) -> Tensor:
    return Tensor._of(np.asarray(np.count_nonzero(input._array, axes_of(dim, input._array.ndim))))


def hash_tensor(
    input: Tensor, dim: int | Sequence[int] = (), *, keepdim: bool = False, mode: int = 0, out: Tensor | None = None
) -> Tensor:
    """The bits of the numbers, as float64 or int64, joined by xor, in uint64: over dim, or over all."""
    if mode:
        raise ArgumentError(tr("Unknown hash_tensor mode: {}", mode), "mode=0")
    if input.is_complex():
        raise DTypeError(tr("hash_tensor: expected real numbers; got {}", input.dtype), "badak.view_as_real(x)")
    axes = None if dim == () else dim
    not_empty("hash_tensor", input, axes)
    return into(out, _xored(cast(input, dtypes.float64 if input.is_floating_point() else dtypes.int64), axes, keepdim), exact=True)


@events.pure(along="dim")
def _xored(input, dim, keepdim) -> Tensor:
    bits = np.ascontiguousarray(input._array).view(np.uint64).reshape(input._array.shape)
    return Tensor._of(np.asarray(np.bitwise_xor.reduce(bits, axis=axes_of(dim, bits.ndim), keepdims=keepdim)))


def nansum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum with NaN counted as 0."""
    expect_real("nansum", input)
    return sum(input.masked_fill(input.isnan(), 0), dim, keepdim, dtype=dtype, out=out)


def nanmean(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The mean of the values that are not NaN."""
    expect_floats("nanmean", input)
    valid = input.isnan().logical_not()
    return nansum(input, dim, keepdim, dtype=dtype) / sum(valid, dim, keepdim)


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """y_i = sum_{j <= i} x_j along dim; integers and booleans give int64.   dx_j = sum_{i >= j} dy_i.

    Args:
        input: any shape
        dim: the axis
        dtype: of the sums
        out: where the result is written

    Returns: tensor of input's shape

    Example:
        >>> badak.tensor([1, 2, 3]).cumsum(0).tolist()
        [1, 3, 6]
    """
    return _running(ops.CumSum, counting(input, dtypes.agreed(dtype, out)), dim, out)


def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """y_i = prod_{j <= i} x_j along dim.   dx_j = sum_{i >= j} dy_i y_i / x_j, written without the division at zeros."""
    return _running(ops.CumProd, counting(input, dtypes.agreed(dtype, out)), dim, out)


def _running(op, x, dim, out) -> Tensor:
    dim = axis_of(dim, x._array.ndim)
    return into(out, apply(op, x, axis=dim) if x._array.ndim else x.clone())


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Differences of neighbours along dim, n times, `prepend` and `append` joined on first; whether booleans differ."""
    if not input._array.ndim:
        raise ShapeError("diff expects input to be at least one-dimensional", "x.reshape(-1)")
    if n < 0:
        raise ArgumentError(tr("order must be non-negative but got {}", n), "n=1")
    if n and (prepend is not None or append is not None):
        along, shape = axis_of(dim, input._array.ndim), input._array.shape
        for part in (prepend, append):
            if part is not None and part._array.ndim != len(shape):
                raise ShapeError("diff expects prepend or append to be the same dimension as input", "part.unsqueeze(dim)")
            if part is not None and (*part._array.shape[:along], *part._array.shape[along + 1 :]) != (
                *shape[:along],
                *shape[along + 1 :],
            ):
                raise ShapeError(
                    tr("diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
                       "dimension; got {} for an input of shape {}, dim={}", part._array.shape, shape, dim),
                    None,
                )  # fmt: skip
        input = cat([x for x in (prepend, input, append) if x is not None], dim)
    of_two = logical_xor if input._array.dtype.kind == "b" else sub
    size = input.size(dim)
    for left in builtins.range(size - 1, builtins.max(size - 1 - n, -1), -1):
        input = of_two(input.narrow(dim, 1, left), input.narrow(dim, 0, left))
    return input
