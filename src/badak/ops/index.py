"""Picking entries by position, and putting them back: the gradient of a gather is a scatter, and the other way round.

`key` is a NumPy index (ints, slices, None, ..., int and bool arrays); along one axis: `along.py`.
"""

import math
from typing import Any

import numpy as np

from badak.kernels.memory_format import copied, laid, row_major
from badak.kernels.reference._arrays import at_places
from badak.ops._broadcast import add_rows, quiet, summed, summing, unbroadcast, zeros
from badak.ops.batching import adapted, aligned, every, key_of_all
from badak.ops.op import Op
from badak.ops.operation import operation


def picked(x: np.ndarray, key: tuple) -> np.ndarray:
    """x[key] for a key of arrays, slices, None and ..., that lies as an elementwise result of x and the index arrays.

    x is constant along the axes that the arrays bring, the arrays along all others.
    """
    y = x[key]
    arrays = [part for part in key if type(part) is np.ndarray]
    if any(
        part.dtype == bool and not part.ndim for part in arrays
    ):  # which stands where no axis is: one of size 1 that it picks from
        return picked(*_with_axes(x, key))
    if x.flags.c_contiguous and all(part.flags.c_contiguous for part in arrays):
        return row_major(y)
    places: list[int] = []
    whole, axis = [], 0  # the key without its arrays, and the axes of x[whole] that they replace
    for part in _without_dots(key, x.ndim):
        dims = _dims(part)
        whole += [slice(None)] * dims or [part]
        if type(part) is np.ndarray:
            places += range(axis, axis + dims)
        axis += dims or 1
    ids = np.broadcast_arrays(*(n for part in arrays for n in (part.nonzero() if part.dtype == bool else (part,))))
    seen, first = x[tuple(whole)], places[0] if places[-1] - places[0] < len(places) else 0
    rest = np.moveaxis(seen, places, range(len(places)))[(0,) * len(places)] if y.size else y
    there = (..., *(None,) * (rest.ndim - first))
    constant = np.expand_dims(rest, tuple(range(first, first + ids[0].ndim))) if y.size else y
    return laid(y, constant, *[n[there] for n in ids])


def _with_axes(x: np.ndarray, key: tuple) -> tuple:
    """The same choice by masks that have an axis each: one of size 1 is put into x for each mask of one number."""
    places: list[Any] = []
    parts, axis = _without_dots(key, x.ndim), 0
    for at, part in enumerate(parts):
        if type(part) is np.ndarray and part.dtype == bool and not part.ndim:
            places.append(axis + len(places))
            parts[at] = part[None]
        elif part is not None:
            axis += _dims(part) or 1
    return np.expand_dims(x, tuple(places)), tuple(parts)


def _without_dots(key: tuple, ndim: int) -> list:
    """The key with full slices for its `...`, or after its end."""
    slices = [slice(None)] * (ndim - sum(_dims(part) or type(part) is slice for part in key))
    parts = list(key)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return parts[:at] + slices + parts[at + 1 :]


def _dims(part: Any) -> int:
    """How many axes an array of a key replaces; 0 where it is no array."""
    if type(part) is not np.ndarray:
        return 0
    return part.ndim if part.dtype == bool else 1


def _selected(x: np.ndarray, key: int | slice | tuple) -> np.ndarray:
    y = x[key]
    return y if type(y) is np.ndarray else x[(*key, ...) if type(key) is tuple else (key, ...)]


def _put_there(dy: np.ndarray, x_shape: tuple[int, ...], key: Any) -> np.ndarray:
    dx = np.zeros(x_shape, dy.dtype)
    dx[key] = dy
    return dx


Select = operation(
    "Select", "y = x[key] for a key of ints, slices, None and ...;   dx = dy there, 0 elsewhere.", _selected, _put_there,
    twice=(lambda dy, x_shape, key: IndexPut.of(zeros(x_shape, dy), dy, key=key),),
    view=True, keeps_finite=True,
    batching=adapted(key=lambda key, x: (slice(None), *(key if type(key) is tuple else (key,)))),
)  # fmt: skip


def _has_mask(key: tuple) -> bool:
    return any(type(part) is np.ndarray and part.dtype.kind == "b" for part in (key if type(key) is tuple else (key,)))


def _added_there(dy: np.ndarray, x_shape: tuple[int, ...], key: tuple) -> np.ndarray:
    first = key[0] if type(key) is tuple and len(key) == 1 else key
    if type(first) is np.ndarray and first.dtype.kind in "iu":
        index = np.where(first < 0, first + x_shape[0], first).ravel()
        return add_rows(x_shape, 0, index, dy.reshape(index.size, *x_shape[1:]))
    if type(first) is np.ndarray:  # a mask picks no entry twice
        return _put_there(dy, x_shape, key)
    dx = np.zeros(x_shape, dy.dtype)
    at_places(np.add, dx, key, dy)
    return dx


def _each_indexed(run: Any, op: Any, xs: list, batched: Any, attributes: dict) -> Any:
    key = key_of_all(attributes["key"], run.level, batched[0])
    return NotImplemented if key is None else run(op, xs[0], key=key)


Index = operation(
    "Index", "y = x[key] for a key that holds arrays;   dx = the sum of dy over the places that picked the same entry.",
    lambda x, key: picked(x, key if type(key) is tuple else (key,)), _added_there,
    twice=(lambda dy, x_shape, key: IndexPut.of(zeros(x_shape, dy), dy, key=key, accumulate=True),),
    slope=summing, data_movement=True, sized_by_values=_has_mask, keeps_finite=True, saves_no_tensors=False,
    batching=_each_indexed,
)  # fmt: skip


def _picked_shape(x: Any, key: Any) -> Any:
    """The shape of x[key]."""
    return np.broadcast_to(np.int8(0), x.shape)[key].shape


def _put(x: np.ndarray, value: Any, key: tuple, accumulate: bool = False) -> np.ndarray:
    y = copied(x)
    if accumulate:
        at_places(np.add, y, key, value)
    else:
        y[key] = value
    return y


def _without(dy: Any, key: tuple, accumulate: bool) -> Any:
    return dy if accumulate else IndexPut.of(dy, np.zeros((), dy.dtype), key=key)


def _each_put(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    x, value = every(xs, batched) if True in batched else [x.expand(run.level.size, *x.shape) for x in xs]
    key = key_of_all(attributes["key"], run.level, True)
    if key is None:
        return NotImplemented
    return run(op, x, aligned(value, len(_picked_shape(x, key)) - 1), **attributes | {"key": key})


IndexPut: type[Op] = operation(
    "IndexPut",
    """y = x with y[key] = value, or y[key] += value to accumulate.

    dx = dy, 0 where replaced;   dvalue = dy[key], summed where value was stretched.
    """,
    _put, _without,
    lambda dy, key, value_shape: unbroadcast(np.asarray(dy[key]), value_shape),
    twice=(_without, lambda dy, key, value_shape: summed(dy[key], value_shape)),
    lies=quiet, owns_grads=False, saves_no_tensors=False, batching=_each_put,
)  # fmt: skip


def _masked(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def _put_where(dy: np.ndarray, mask: np.ndarray, x_shape: tuple[int, ...]) -> np.ndarray:
    shape = np.broadcast_shapes(x_shape, mask.shape)
    return unbroadcast(_put_there(dy, shape, np.broadcast_to(mask, shape)), x_shape)


def _put_where_twice(dy: Any, mask: np.ndarray, x_shape: tuple[int, ...]) -> Any:
    full = np.broadcast_shapes(x_shape, mask.shape)
    return summed(IndexPut.of(zeros(full, dy), dy, key=np.broadcast_to(mask, full)), x_shape)


MaskedSelect = operation(
    "MaskedSelect", "y = the entries of x where mask, flat;   dx = dy there, 0 elsewhere.", _masked, _put_where, None,
    twice=(_put_where_twice, None), data_movement=True, sized_by_values=lambda: True, batching=None,
)  # fmt: skip


def _masked_scatter(x: np.ndarray, mask: np.ndarray, src: np.ndarray) -> np.ndarray:
    y = x.copy()
    full = np.broadcast_to(mask, y.shape)
    y[full] = src.reshape(-1)[: np.count_nonzero(full)]
    return y


def _scattered(dy: Any, mask: np.ndarray, src_shape: tuple[int, ...]) -> Any:
    part = dy[np.broadcast_to(mask, dy.shape)]
    return IndexPut.of(zeros(math.prod(src_shape), dy), part, key=(slice(0, part.size),)).reshape(src_shape)


MaskedScatter = operation(
    "MaskedScatter", "y = x with the entries where mask = the first entries of src;   dx = dy, 0 there;   dsrc = dy there.",
    _masked_scatter,
    lambda dy, mask: np.where(np.broadcast_to(mask, dy.shape), dy.dtype.type(0), dy), None, _scattered,
    owns_grads=False, data_movement=True, batching=None,
)  # fmt: skip


def _taken(dy: Any, index: np.ndarray, x_shape: Any) -> Any:
    return IndexPut.of(zeros(math.prod(x_shape), dy), dy, key=index, accumulate=True).reshape(x_shape)


Take = operation(
    "Take", "y = the entries of x at flat positions `index`;   dx = dy added back there.", lambda x, index: x.take(index),
    _taken, None, batching=None,
)  # fmt: skip
