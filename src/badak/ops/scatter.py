"""Reductions into places that an index names, and views by strides."""

from typing import Any

import numpy as np

from badak.core.memory import offset_of, owner_of
from badak.kernels.reference._arrays import at_places
from badak.ops._broadcast import quiet, summing, zeros
from badak.ops.along import IndexAdd, grid
from badak.ops.op import Op

UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
STARTS = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}


class ScatterReduce(Op):
    """y[p] = the reduction of all src[i] with index[i] = p, and of x[p] where include_self; y[p] = x[p] where there are none.

    With dy at the place p that an entry e (of src, or of x) went to, and m entries there:

        sum    de = dy                                      mean         de = dy / m
        prod   de = dy prod of the other entries            amax, amin   de = dy / (entries equal to y), 0 if e is not

    Where y = NaN, amax and amin give NaN; with equal_nan an equal share to each NaN.
    """

    batching = None

    @staticmethod
    @quiet
    def forward(
        save: Any,
        x: np.ndarray,
        index: np.ndarray,
        src: np.ndarray,
        dim: int,
        reduce: str,
        include_self: bool,
        equal_nan: bool = False,
    ) -> np.ndarray:
        at, save.full = grid(index, dim), src.shape
        src = src[tuple(map(slice, index.shape))]
        save.shape, save.at, save.index, save.reduce, save.equal_nan = src.shape, at, index, reduce, equal_nan
        touched = np.zeros(x.shape, bool)
        touched[at] = True
        y = x.copy()
        if not include_self:
            y[touched] = _start(reduce, x.dtype)
        count = np.where(touched & (not include_self), 0, 1)
        if reduce == "mean":
            at_places(np.add, count, at, np.ones(src.shape, count.dtype))
        at_places(UFUNCS[reduce], y, at, src)
        if reduce == "mean":
            y = np.where(touched, y // count if x.dtype.kind in "iu" else y / count, y).astype(x.dtype)
        save.x, save.src, save.y, save.count, save.own = x, src, y, count, ~touched | include_self
        return y

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> tuple:
        at, own, src, x = saved.at, saved.own, saved.src, saved.x
        need_x, _, need_src = saved.needs
        if saved.reduce == "prod":
            dx, dsrc = _of_others(saved, dy)
        else:
            if saved.reduce == "mean":
                share = dy / saved.count.astype(dy.dtype)
                here, there = np.ones(x.shape, bool), np.ones(src.shape, bool)
            elif saved.reduce == "sum":
                share, here, there = dy, np.ones(x.shape, bool), np.ones(src.shape, bool)
            else:
                same = _same_or_nan if saved.equal_nan else np.equal
                here, there = same(x, saved.y), same(src, saved.y[at])
                equal = (here & own).astype(dy.dtype)
                at_places(np.add, equal, at, there.astype(dy.dtype))
                share = dy / equal
            dx, dsrc = share * here, share[at] * there
        dx = np.where(own, dx, dy.dtype.type(0)) if need_x else None
        if not need_src:
            return dx, None, None
        full = np.zeros(saved.full, dy.dtype) if saved.full != saved.shape else dsrc
        if saved.full != saved.shape:
            full[tuple(map(slice, saved.shape))] = dsrc
        return dx, None, full


def _same_or_nan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == b) | ((a != a) & (b != b))


def _start(reduce: str, dtype: np.dtype) -> Any:
    start = STARTS[reduce]
    if dtype.kind == "b":
        return start > 0  # of amax False, of amin True
    if dtype.kind in "iu" and np.isinf(start):
        return np.iinfo(dtype).min if start < 0 else np.iinfo(dtype).max
    return start


def _of_others(saved: Any, dy: np.ndarray) -> tuple:
    """(dx, dsrc) of a product: of the entries that are not 0, or of the others where one single entry is 0.

    A NaN makes all gradients NaN, with equal_nan only those of the other entries.
    """
    x, src, at, own, one = saved.x, saved.src, saved.at, saved.own, saved.x.dtype.type(1)

    def odd(e: Any) -> Any:  # is divided by in no case
        return (e == 0) | (e != e) if saved.equal_nan else e == 0

    product = np.where(own & ~odd(x), x, one)
    at_places(np.multiply, product, at, np.where(odd(src), one, src))
    zeros, nans = ((own & each).astype(np.int64) for each in (x == 0, odd(x) & (x != 0)))
    at_places(np.add, zeros, at, (src == 0).astype(np.int64))
    at_places(np.add, nans, at, (odd(src) & (src != 0)).astype(np.int64))

    def part(e: Any, p: Any, z: Any, n: Any) -> Any:
        p = np.where(n > (odd(e) & (e != 0)), one * np.nan, p)
        return np.where(z > (e == 0), p * (one - one), p / np.where(odd(e), one, e))  # NaN of an infinity and a 0

    return dy * part(x, product, zeros, nans), dy[at] * part(src, product[at], zeros[at], nans[at])


class AsStrided(Op):
    """y[i] = the memory of x at offset + i . strides, counted from its first entry;   dx = the sum of dy over each place of x."""

    view = True
    batching = None

    @staticmethod
    def forward(save: Any, x: np.ndarray, size: tuple, stride: tuple, offset: int) -> np.ndarray:
        save.layouts = (size, stride, offset), (x.shape, [s // x.itemsize for s in x.strides], 0)
        start = offset_of(x) + offset * x.itemsize
        return np.ndarray(size, x.dtype, owner_of(x).ravel("K"), start, [s * x.itemsize for s in stride])

    @staticmethod
    @summing
    def backward(saved: Any, dy: Any) -> Any:
        there, mine = _places(*saved.layouts)
        size = max(there.max(initial=0), mine.max(initial=0)) + 1
        total = IndexAdd.of(zeros(size, dy), there.ravel(), dy.reshape(there.size), dim=0)
        count = np.bincount(mine.ravel(), minlength=size)  # a place that x has twice shares its gradient
        return (total / np.maximum(count, 1).astype(dy.dtype))[mine]


def _places(*layouts: Any) -> tuple:
    """Where each entry of views of a memory lies, (size, strides, offset) each, counted from the lowest place of all."""
    there, mine = (_from_first(size, stride) + offset for size, stride, offset in layouts)
    low = min(there.min(initial=0), mine.min(initial=0))
    return there - low, mine - low


def _from_first(size: tuple[int, ...], stride: list[int] | tuple[int, ...]) -> np.ndarray:
    """Where each entry of a view lies, counted from its first."""
    at: np.ndarray = np.zeros(size, np.int64)
    for axis, (n, s) in enumerate(zip(size, stride)):
        at += (np.arange(n) * s).reshape([-1 if a == axis else 1 for a in range(len(size))])
    return at
