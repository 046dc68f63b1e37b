"""Picking entries by position, and putting them back: the gradient of a gather is a scatter, and the other way round.

`key` is a NumPy index (ints, slices, None, ..., int and bool arrays); along one axis: `along.py`.
"""

import math

import numpy as np

from badak.kernels.memory_format import copied, laid, row_major
from badak.ops._broadcast import add_rows, quiet, summed, summing, unbroadcast, zeros
from badak.ops.batching import aligned, every, key_of_all
from badak.ops.op import Op


def picked(x, key):
    """x[key] for a key of arrays, slices, None and ..., that lies as an elementwise result of x and the index arrays.

    x is constant along the axes that the arrays bring, the arrays along all others.
    """
    y = x[key]
    arrays = [part for part in key if type(part) is np.ndarray]
    if x.flags.c_contiguous and all(part.flags.c_contiguous for part in arrays):
        return row_major(y)
    whole, places, axis = [], [], 0  # the key without its arrays, and the axes of x[whole] that they replace
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


def _without_dots(key, ndim):
    """The key with full slices for its `...`, or after its end."""
    slices = [slice(None)] * (ndim - sum(_dims(part) or type(part) is slice for part in key))
    parts = list(key)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return parts[:at] + slices + parts[at + 1 :]


def _dims(part):
    """How many axes an array of a key replaces; 0 where it is no array."""
    if type(part) is not np.ndarray:
        return 0
    return part.ndim if part.dtype == bool else 1


class Select(Op):
    """y = x[key] for a key of ints, slices, None and ...;   dx = dy there, 0 elsewhere."""

    view = True
    keeps_finite = True

    @staticmethod
    def forward(save, x, key):
        save.shape, save.key = x.shape, key
        y = x[key]
        return y if type(y) is np.ndarray else x[(*key, ...) if type(key) is tuple else (key, ...)]

    @staticmethod
    def backward(saved, dy):
        dx = np.zeros(saved.shape, dy.dtype)
        dx[saved.key] = dy
        return dx

    @staticmethod
    def double_backward(saved, dy):
        return IndexPut.of(zeros(saved.shape, dy), dy, key=saved.key)

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        key = attributes["key"]
        return run(op, xs[0], key=(slice(None), *(key if type(key) is tuple else (key,))))


def _has_mask(key) -> bool:
    return any(type(part) is np.ndarray and part.dtype.kind == "b" for part in (key if type(key) is tuple else (key,)))


class Index(Op):
    """y = x[key] for a key that holds arrays;   dx = the sum of dy over the places that picked the same entry."""

    data_movement = True
    sized_by_values = staticmethod(_has_mask)
    keeps_finite = True

    @staticmethod
    def forward(save, x, key):
        save.shape, save.key = x.shape, key
        return picked(x, key if type(key) is tuple else (key,))

    @staticmethod
    @summing
    def backward(saved, dy):
        key, shape = saved.key, saved.shape
        first = key[0] if type(key) is tuple and len(key) == 1 else key
        if type(first) is np.ndarray and first.dtype.kind in "iu":
            index = np.where(first < 0, first + shape[0], first).ravel()
            return add_rows(shape, 0, index, dy.reshape(index.size, *shape[1:]))
        dx = np.zeros(shape, dy.dtype)
        if type(first) is np.ndarray:  # a mask picks no entry twice
            dx[key] = dy
        else:
            np.add.at(dx, key, dy)
        return dx

    @staticmethod
    def double_backward(saved, dy):
        return IndexPut.of(zeros(saved.shape, dy), dy, key=saved.key, accumulate=True)

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        key = key_of_all(attributes["key"], run.level, batched[0])
        return NotImplemented if key is None else run(op, xs[0], key=key)


def _picked_shape(x, key):
    """The shape of x[key]."""
    return np.broadcast_to(np.int8(0), x.shape)[key].shape


class IndexPut(Op):
    """y = x with y[key] = value, or y[key] += value to accumulate.

    dx = dy, 0 where replaced;   dvalue = dy[key], summed where value was stretched.
    """

    owns_grads = False

    @staticmethod
    @quiet
    def forward(save, x, value, key, accumulate=False):
        save.shape, save.key, save.accumulate = value.shape, key, accumulate
        y = copied(x)
        if accumulate:
            np.add.at(y, key, value)
        else:
            y[key] = value
        return y

    @staticmethod
    def backward(saved, dy):
        nx, nv = saved.needs
        dx = dy if nx else None
        if nx and not saved.accumulate:
            dx = dy.copy()
            dx[saved.key] = 0
        return dx, unbroadcast(np.asarray(dy[saved.key]), saved.shape) if nv else None

    @staticmethod
    def double_backward(saved, dy):
        dx = dy
        if not saved.accumulate:
            dx = IndexPut.of(dy, np.zeros((), dy.dtype), key=saved.key)
        return dx, summed(dy[saved.key], saved.shape) if saved.needs[1] else None

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        x, value = every(xs, batched) if True in batched else [x.expand(run.level.size, *x.shape) for x in xs]
        key = key_of_all(attributes["key"], run.level, True)
        if key is None:
            return NotImplemented
        return run(op, x, aligned(value, len(_picked_shape(x, key)) - 1), **attributes | {"key": key})


class MaskedSelect(Op):
    """y = the entries of x where mask, flat;   dx = dy there, 0 elsewhere."""

    data_movement = True
    sized_by_values = staticmethod(lambda: True)
    batching = None

    @staticmethod
    def forward(save, x, mask):
        save.mask, save.shape = mask, x.shape
        x, mask = np.broadcast_arrays(x, mask)
        return x[mask]

    @staticmethod
    def backward(saved, dy):
        shape = np.broadcast_shapes(saved.shape, saved.mask.shape)
        dx = np.zeros(shape, dy.dtype)
        dx[np.broadcast_to(saved.mask, shape)] = dy
        return unbroadcast(dx, saved.shape), None

    @staticmethod
    def double_backward(saved, dy):
        full = np.broadcast_shapes(saved.shape, saved.mask.shape)
        mask = np.broadcast_to(saved.mask, full)
        return summed(IndexPut.of(zeros(full, dy), dy, key=mask), saved.shape), None


class MaskedScatter(Op):
    """y = x with the entries where mask = the first entries of src;   dx = dy, 0 there;   dsrc = dy there."""

    owns_grads = False

    data_movement = True
    batching = None

    @staticmethod
    def forward(save, x, mask, src):
        save.mask, save.shape = mask, src.shape
        y = x.copy()
        full = np.broadcast_to(mask, y.shape)
        y[full] = src.reshape(-1)[: np.count_nonzero(full)]
        return y

    @staticmethod
    def backward(saved, dy):
        nx, _, ns = saved.needs
        full = np.broadcast_to(saved.mask, dy.shape)
        dsrc = None
        if ns:
            dsrc = np.zeros(saved.shape, dy.dtype)
            picked = dy[full]
            dsrc.reshape(-1)[: picked.size] = picked
        return np.where(full, dy.dtype.type(0), dy) if nx else None, None, dsrc

    @staticmethod
    def double_backward(saved, dy):
        full = np.broadcast_to(saved.mask, dy.shape)
        dsrc = None
        if saved.needs[2]:
            picked = dy[full]
            flat = IndexPut.of(zeros(math.prod(saved.shape), dy), picked, key=(slice(0, picked.size),))
            dsrc = flat.reshape(saved.shape)
        return np.where(full, 0, dy), None, dsrc


class Take(Op):
    """y = the entries of x at flat positions `index`;   dx = dy added back there."""

    batching = None

    @staticmethod
    def forward(save, x, index):
        save.index, save.shape = index, x.shape
        return x.take(index)

    @staticmethod
    def backward(saved, dy):
        dx = np.zeros(saved.shape, dy.dtype)
        np.add.at(dx.reshape(-1), saved.index, dy)
        return dx, None

    @staticmethod
    def double_backward(saved, dy):
        flat = zeros(math.prod(saved.shape), dy)
        return IndexPut.of(flat, dy, key=saved.index, accumulate=True).reshape(saved.shape), None
