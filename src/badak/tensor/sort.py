"""Order: sorting, the largest, positions of extremes, medians, distinct values, counts.

Positions are computed without gradient; the values are gathered there, and their gradient goes back there.
Equal values keep their order (PyTorch promises that with stable=True only); NaN counts as larger than any number.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.kernels.half import sortable
from badak.kernels.memory_format import turn
from badak.ops._check import axis_of, expect_floats, in_order, keepdim_error
from badak.ops.along import TakeAlong
from badak.ops.reduce import OneOf
from badak.tensor import returns
from badak.tensor.apply import apply
from badak.tensor.arithmetic import lerp
from badak.tensor.elementwise import round, where
from badak.tensor.index import gather
from badak.tensor.pointwise import ceil, floor
from badak.tensor.promote import into, operand
from badak.tensor.reduce import along
from badak.tensor.reductions import not_empty
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


@events.pure(along="dim")
def _order(array, dim: int, descending: bool):
    array = sortable(array)
    if not descending:
        return np.ascontiguousarray(np.argsort(array, axis=dim, kind="stable"), np.int64)
    # from the end, so that equal values keep their order
    backwards = np.argsort(np.flip(array, dim), axis=dim, kind="stable")
    return np.ascontiguousarray(array.shape[dim] - 1 - np.flip(backwards, dim), np.int64)


def _gathered(input, order, dim: int):
    indices = Tensor._of(order)
    return apply(TakeAlong, input, indices, dim=dim), indices


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False, *,
         out: Tensor | Sequence[Tensor] | None = None) -> Any:  # fmt: skip
    """(values, indices) in order along dim.   dx = dy put back at `indices`.

    Args:
        input: any shape
        dim: the axis
        descending: the largest first
        stable: accepted: equal values keep their order
        out: where the result is written

    Returns: the pair (values, indices)

    Example:
        >>> badak.tensor([3, 1, 2]).sort().indices.tolist()
        [1, 2, 0]
    """
    in_order("sort", input)
    dim = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        return returns.sort(*along(input, None, 0))
    turned = turn(input._array.shape, input._array)
    if turned is None:
        found = returns.sort(*_gathered(input, _order(input._array, dim, descending), dim))
    else:  # the result lies as the input does
        axes, back = turned
        found = returns.sort(*(y.permute(back) for y in sort(input.permute(axes), axes.index(dim), descending)))
    return found


def msort(input: Tensor) -> Tensor:
    """The values in order along dim 0."""
    return sort(input, 0).values


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that put x in order along dim."""
    in_order("argsort", input)
    dim = axis_of(dim, input._array.ndim)
    array = input._array
    if not array.ndim:
        return Tensor._of(np.zeros((), np.int64))
    turned = turn(array.shape, array)
    if turned is None:
        return Tensor._of(_order(array, dim, descending))
    axes, back = turned  # the result lies as the input does
    return argsort(input.permute(axes), axes.index(dim), descending).permute(back)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *,
         out: Tensor | Sequence[Tensor] | None = None) -> Any:  # fmt: skip
    """(values, indices) of the k largest (or smallest) along dim, in order.   dx = dy put back at `indices`.

    Args:
        input: any shape
        k: how many
        dim: the axis
        largest: False for the smallest
        sorted: accepted: they are in order
        out: where the result is written

    Returns: the pair (values, indices), size k along dim

    Raises:
        ArgumentError: for a k larger than the axis

    Example:
        >>> badak.tensor([1, 5, 2]).topk(2).values.tolist()
        [5, 2]
    """
    in_order("topk", input)
    expect_floats("topk", input, also="iu")
    dim, array = axis_of(dim, input._array.ndim), input._array
    n = array.shape[dim] if array.ndim else 1
    if not 0 <= k <= n:
        cause = tr("topk: selected index k out of range: k={} of the {} values along dim {}", k, n, dim)
        raise IndexOutOfRangeError(cause, f"k=min(k, {n})")
    if array.ndim:
        found = returns.topk(*_gathered(input, _top(array, int(k), dim, largest), dim))
    else:
        found = returns.topk(*along(input, None, 0))
    return found


@events.pure(along="dim")
def _top(array, k: int, dim: int, largest: bool):
    n = array.shape[dim]
    before = (slice(None),) * dim
    if n < 512 or k > n // 8 or k == 0:
        return np.ascontiguousarray(_order(array, dim, largest)[(*before, slice(k))])
    array = sortable(array)
    # among many, only the candidates are sorted; which of the values equal to the k-th are among them is not promised
    part = np.argpartition(array, n - k if largest else k - 1, axis=dim)
    candidates = np.sort(part[(*before, slice(n - k, None) if largest else slice(k))], axis=dim)
    order = _order(np.take_along_axis(array, candidates, dim), dim, largest)
    return np.ascontiguousarray(np.take_along_axis(candidates, order, dim), np.int64)


def _position(name: str, pick, est: str) -> Callable[..., Tensor]:
    def along(input: Tensor, dim: int, keepdim: bool) -> Tensor:
        array = input._array
        return Tensor._of(pick(array, axis=dim, keepdims=keepdim) if array.ndim else np.zeros((), np.int64))

    along.__qualname__ = f"{name}_along"
    along_one = events.pure(along, along="dim")

    def function(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None,
                 out: Tensor | None = None) -> Tensor:  # fmt: skip
        if type(keepdim) is not bool:
            raise keepdim_error(keepdim)
        in_order(name, input)
        array, dim = input._array, dim if axis is None else axis
        if array.dtype.kind == "b":
            raise DTypeError(tr("{}: not defined for booleans", name), "x.int() first")
        not_empty(name, input, dim)
        if dim is None:
            y = along_one(input.reshape(-1), 0, False).reshape((1,) * array.ndim if keepdim else ())
        else:
            y = along_one(input, axis_of(dim, array.ndim), keepdim)
        return into(out, y, exact=True)

    doc = f"The index of the {est} value along dim (of all, flat, without dim); the first of equal ones."
    return named(function, name, doc)


argmax, argmin = _position("argmax", np.argmax, "largest"), _position("argmin", np.argmin, "smallest")


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """(values, indices) of the k-th smallest along dim, k from 1."""
    in_order("kthvalue", input)
    expect_floats("kthvalue", input, also="iu")
    dim, array = axis_of(dim, input._array.ndim), input._array
    n = array.shape[dim] if array.ndim else 1
    if not 1 <= k <= n:
        cause = tr("kthvalue(): selected number k out of range for dimension {}: k={} of {}", dim, k, n)
        raise IndexOutOfRangeError(cause, f"1..{n}")
    return returns.kthvalue(*along(input, _kth(array, k - 1, dim), dim, keepdim))


@events.pure(along="dim")
def _kth(array, k: int, dim: int):
    if not array.ndim:
        return None
    array = sortable(array)
    few = array.shape[dim] < 256 or array.dtype.kind not in "iuf"
    value = array if few else np.partition(array, k, axis=dim).take([k], dim)
    if few or not (value == value).all():
        return _order(array, dim, False).take(k, dim)
    less, same = (array < value).sum(dim, keepdims=True), array == value
    place = (same.cumsum(dim, dtype=np.int64) == k - less + 1) & same  # where a stable order has it
    return place.argmax(dim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """The middle value, of two middle ones the lower: of all, or (values, indices) along dim. A NaN makes it NaN.

    dx: shared evenly by equal entries without dim; with dim, to the entry at `indices`.
    """
    return _median("median", _middle, input, dim, keepdim)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """As median, of the values that are not NaN; NaN where there are none."""
    return _median("nanmedian", _middle_number, input, dim, keepdim)


def _median(name: str, middle, input, dim, keepdim: bool):
    in_order(name, input)
    expect_floats(name, input, also="iu")
    if dim is None:
        not_empty(name, input, None)
        row = input.reshape(-1)
        return apply(OneOf, row, Tensor._of(np.expand_dims(middle(row._array, 0), 0))).reshape(())
    dim = axis_of(dim, input._array.ndim)
    not_empty(name, input, dim)
    found = along(input, middle(input._array, dim) if input._array.ndim else None, dim, keepdim)
    return getattr(returns, name)(*found)


@events.pure(along="dim")
def _middle(array, dim: int):
    array = sortable(array)
    middle = _kth(array, (array.shape[dim] - 1) // 2, dim)
    if array.dtype.kind != "f":
        return middle
    nan = np.isnan(array)
    return np.where(nan.any(dim), nan.argmax(dim), middle)


@events.pure(along="dim")
def _middle_number(array, dim: int):
    order = _order(array, dim, False)  # NaN last
    numbers = (array == array).sum(dim, keepdims=True)
    return np.take_along_axis(order, np.maximum(numbers - 1, 0) // 2, dim).squeeze(dim)


_ROUNDED = {"lower": floor, "higher": ceil, "nearest": round}


@in_float32
def nanquantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear",
                out: Tensor | None = None) -> Tensor:  # fmt: skip
    """As quantile, of the values that are not NaN; NaN where there are none."""
    return quantile(input, q, dim, keepdim, interpolation=interpolation, out=out, _of_numbers=True)


@in_float32
def quantile(input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear",
             out: Tensor | None = None, _of_numbers: bool = False) -> Tensor:  # fmt: skip
    """The value below which the fraction q lies, along dim or of all; one for each of a vector q, in a new first dim.

    Of n sorted values it stands at position q (n - 1): between two of them by interpolation "linear" or "midpoint", or
    at the "lower", "higher" or "nearest" one. NaN where a value is NaN. The gradient goes to the values that were used.
    """
    if type(keepdim) is not bool:
        raise keepdim_error(keepdim)
    if not input.is_floating_point() or not input._array.size:
        cause = tr(
            "quantile() input tensor must be a float tensor that is not empty; got {} of shape {}", input.dtype, input._array.shape
        )
        raise ArgumentError(cause, "x.float()")
    q = q if isinstance(q, Tensor) else Tensor._of(np.asarray(operand(q, "quantile"), input._array.dtype))
    if q._array.ndim > 1 or q._array.dtype != input._array.dtype:
        cause = tr("quantile() q must be a number or a vector of the input's dtype; got {} of shape {}", q.dtype, q._array.shape)
        raise ArgumentError(cause, "q.to(x.dtype)")
    if not ((q >= 0) & (q <= 1)).all():
        raise ArgumentError(tr("quantile() q values must be in the range [0, 1]; got {}", q.tolist()), "0.5 is the median")
    if interpolation not in (*_ROUNDED, "linear", "midpoint"):
        cause = tr("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest; got {!r}", interpolation)
        raise ArgumentError(cause, "interpolation='linear'")
    shape = input._array.shape
    a = None if dim is None else axis_of(dim, len(shape))
    x = input.reshape(-1, 1) if a is None or not shape else input.movedim(a, -1).unsqueeze(0).movedim(-1, 0).flatten(1)
    y = _quantiles(sort(x, 0)[0], q.reshape(-1), interpolation, _of_numbers)  # (Q, rows)
    y = y.t().contiguous().t() if _of_numbers and q._array.ndim else y
    rest = (1,) * len(shape) if a is None else shape[:a] + (1,) * (a < len(shape)) + shape[a + 1 :]
    if not keepdim:
        rest = () if a is None else shape[:a] + shape[a + 1 :]
    return into(out, y.reshape(q._array.shape + tuple(rest)), exact=True)


def _quantiles(x, q, interpolation: str, of_numbers: bool) -> Tensor:
    """(Q, rows) from the sorted columns of x (n, rows)."""
    last = x._array.shape[0] - 1
    if of_numbers:
        at = q.unsqueeze(1) * (x.isnan().logical_not().sum(0) - 1).clamp(min=0).to(q.dtype)
    else:
        at = q.unsqueeze(1) * last
        at = at.expand(-1, x._array.shape[1])
        at = where(x[-1].isnan(), last, at)  # NaN counts as the largest
    if interpolation in _ROUNDED:
        return gather(x, 0, _ROUNDED[interpolation](at).long())
    below = floor(at)
    weight = (at - below) if interpolation == "linear" else (at != below).to(x.dtype) * 0.5
    low, high = gather(x, 0, below.long()), gather(x, 0, ceil(at).long())
    return lerp(low, high, weight)


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the most frequent value along dim; of equally frequent ones the smallest, its last index."""
    in_order("mode", input)
    array = input._array
    dim = axis_of(dim, array.ndim)
    not_empty("mode", input, dim)

    def last_of_most(row):
        values, counts = np.unique(row, return_counts=True, equal_nan=False)
        return len(row) - 1 - np.argmax(row[::-1] == values[counts.argmax()])

    found = np.apply_along_axis(last_of_most, dim, sortable(array)) if array.ndim else None
    return returns.mode(*along(input, found, dim, keepdim))


# ---------------------------------------------------------------------- distinct values and counts


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:  # fmt: skip
    """The distinct values in order (slices along dim, if given); with the flags also where each came from, how often.

    No NaN equals another: each is a value of its own, at the end.
    """
    in_order("unique", input)
    events.read(tr("unique, for the size of its result"))
    flags: Any = {"return_inverse": return_inverse, "return_counts": return_counts}
    found = np.unique(sortable(input._array), axis=dim, equal_nan=False, **flags)
    parts = list(found) if isinstance(found, tuple) else [found]
    parts[0] = parts[0].astype(input._array.dtype, copy=False)
    if return_inverse:
        parts[1] = parts[1].reshape(input._array.shape if dim is None else (-1,))
    made = tuple(Tensor._of(part) for part in parts)
    return made if return_inverse or return_counts else made[0]


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The values with runs of equal ones (slices along dim, if given) shortened to one."""
    events.read(tr("unique_consecutive, for the size of its result"))
    array = input._array.reshape(-1) if dim is None else np.moveaxis(input._array, dim, 0)
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    first = np.ones(len(array), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(1)
    kept = array[first]
    found = [kept if dim is None else np.moveaxis(kept, 0, dim)]
    if return_inverse:
        inverse = np.cumsum(first) - 1
        found.append(inverse.reshape(input._array.shape) if dim is None else inverse)
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(first), len(array))))
    made = tuple(Tensor._of(part) for part in found)
    return made[0] if len(made) == 1 else made


def searchsorted(sorted_sequence: Tensor, input: Tensor, *, right: bool = False, side: Any = None, out_int32: bool = False,
                 sorter: Tensor | None = None) -> Tensor:  # fmt: skip
    """Where each value would go into the sorted sequence (its last dim) so that it stays sorted: before equal ones,
    with right=True after them; NaN at its end. Leading dims of both agree, or the sequence is one vector. `sorter` gives
    the order in which a sequence that is not sorted would be."""
    if side not in (None, "left", "right") or (right and side == "left"):
        cause = tr("searchsorted: expected side 'left' or 'right', as right={} says; got {!r}", right, side)
        raise ArgumentError(cause, "right=True")
    side = side or ("right" if right else "left")
    input = operand(input, "searchsorted")
    in_order("searchsorted", sorted_sequence)
    rows, values = sortable(sorted_sequence._array), sortable(np.asarray(input._array if isinstance(input, Tensor) else input))
    if sorter is not None:
        if sorter._array.shape != rows.shape:
            cause = tr("searchsorted: expected sorter of the sequence's shape {}; got {}", rows.shape, sorter._array.shape)
            raise ShapeError(cause, "sorter=sorted_sequence.argsort()")
        rows = np.take_along_axis(rows, sorter._array, -1)
    if rows.ndim > 1 and rows.shape[:-1] != values.shape[:-1]:
        cause = tr("searchsorted: expected the leading dims to agree; got sequence {} and input {}", rows.shape, values.shape)
        raise ShapeError(cause, None)
    if rows.ndim == 1:
        found = np.searchsorted(rows, values, side)  # type: ignore[arg-type]
    else:
        count = math.prod(rows.shape[:-1])
        flat = zip(rows.reshape(count, rows.shape[-1]), values.reshape(count, values.shape[-1]))
        each = [np.searchsorted(row, value, side) for row, value in flat]  # type: ignore[arg-type]
        found = np.asarray(each).reshape(values.shape)
    return Tensor._of(np.where(values == values, found, rows.shape[-1]).astype(np.int32 if out_int32 else np.int64))


def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The number of the bucket between sorted boundaries that each value falls into."""
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)
