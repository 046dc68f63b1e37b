"""Picking entries by position, and putting them back: the gradient of a gather is a scatter, and the other way round.

`key` is a NumPy index (ints, slices, None, ..., int and bool arrays); `dim` counts from 0.
"""

import numpy as np

from badak import kernels
from badak.kernels.memory_format import copied, laid, row_major
from badak.ops._broadcast import by_rows, quiet, summing, unbroadcast
from badak.ops.op import Op


def add_rows(shape, dim, index, dy):
    """Zeros of `shape` with dy's k-th slice along `dim` added to slice index[k]."""
    if dy.dtype.kind == "f" and dy.dtype.itemsize >= 4 and dy.size:
        rows = np.moveaxis(dy, dim, 0).reshape(index.size, -1)
        dx = kernels.of(dy).embedding_backward(rows, index, shape[dim])
        return np.moveaxis(dx.reshape(shape[dim], *shape[:dim], *shape[dim + 1 :]), 0, dim)
    dx = np.zeros(shape, dy.dtype)
    np.add.at(dx, (slice(None),) * dim + (index,), dy)
    return dx


def grid(index, dim):
    """The key with which x[key] picks x[i0, .., index[i0, .., in], .., in], `index` replacing the coordinate `dim`."""
    n = index.ndim
    return tuple(
        index if a == dim else np.arange(size).reshape((1,) * a + (size,) + (1,) * (n - 1 - a))
        for a, size in enumerate(index.shape)
    )


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

    data_movement = True
    saves_no_tensors = True
    view = True

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


class Index(Op):
    """y = x[key] for a key that holds arrays;   dx = the sum of dy over the places that picked the same entry."""

    data_movement = True

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


class Gather(Op):
    """y[i0, .., ik, .., in] = x[i0, .., index[i0, .., in], .., in], at position k = dim;   dx = dy added back there."""

    @staticmethod
    @by_rows
    def forward(save, x, index, dim):
        save.index, save.shape, save.dim = index, x.shape, dim
        return x[grid(index, dim)] if x.ndim else x[()] + np.zeros(index.shape, x.dtype)

    @staticmethod
    def backward(saved, dy):
        dx = np.zeros(saved.shape, dy.dtype)
        if dx.ndim:
            np.add.at(dx, grid(saved.index, saved.dim), dy)
        else:
            dx += dy.sum()
        return dx, None


class TakeAlong(Op):
    """As Gather, for an index that picks no entry twice, as a sort or an argmax makes it;   dx = dy put back there."""

    data_movement = True

    @staticmethod
    @by_rows
    def forward(save, x, index, dim):
        save.index, save.shape, save.dim = index, x.shape, dim
        return x[grid(index, dim)]

    @staticmethod
    def backward(saved, dy):
        dx = np.zeros(saved.shape, dy.dtype)
        dx[grid(saved.index, saved.dim)] = dy
        return dx, None


def _part(src, index):
    """The corner of src that a smaller index uses."""
    return src if src.shape == index.shape else src[tuple(map(slice, index.shape))]


class Scatter(Op):
    """y = x with y[.., index[i], ..] = src[i] along `dim`;   dx = dy, 0 where replaced;   dsrc = dy there."""

    owns_grads = False

    data_movement = True

    @staticmethod
    def forward(save, x, index, src, dim):
        save.index, save.shape, save.dim = index, src.shape, dim
        y = x.copy()
        y[grid(index, dim)] = _part(src, index)
        return y

    @staticmethod
    def backward(saved, dy):
        index, key = saved.index, grid(saved.index, saved.dim)
        nx, _, ns = saved.needs
        dx = dsrc = None
        if nx:
            dx = dy.copy()
            dx[key] = 0
        if ns:
            dsrc = np.zeros(saved.shape, dy.dtype)
            _part(dsrc, index)[...] = dy[key]
        return dx, None, dsrc


class ScatterFill(Op):
    """y = x with y[.., index[i], ..] = c along `dim`;   dx = dy, 0 there."""

    data_movement = True

    @staticmethod
    def forward(save, x, index, c, dim):
        save.index, save.dim = index, dim
        y = x.copy()
        y[grid(index, dim)] = c
        return y

    @staticmethod
    def backward(saved, dy):
        dx = dy.copy()
        dx[grid(saved.index, saved.dim)] = 0
        return dx, None


class ScatterAdd(Op):
    """y = x with y[.., index[i], ..] += src[i] along `dim`;   dx = dy;   dsrc = dy there."""

    owns_grads = False

    @staticmethod
    @quiet
    def forward(save, x, index, src, dim):
        save.index, save.shape, save.dim = index, src.shape, dim
        y = x.copy()
        np.add.at(y, grid(index, dim), _part(src, index))
        return y

    @staticmethod
    def backward(saved, dy):
        dsrc = None
        if saved.needs[2]:
            dsrc = np.zeros(saved.shape, dy.dtype)
            _part(dsrc, saved.index)[...] = dy[grid(saved.index, saved.dim)]
        return dy, None, dsrc


class IndexSelect(Op):
    """y's k-th slice along `dim` = x's slice index[k];   dx = dy's slices added back."""

    @staticmethod
    def forward(save, x, index, dim):
        save.index, save.shape, save.dim = index, x.shape, dim
        return x.take(index, dim)

    @staticmethod
    def backward(saved, dy):
        return add_rows(saved.shape, saved.dim, saved.index, dy), None


class IndexAdd(Op):
    """y = x with slice index[k] along `dim` += c src[k];   dx = dy;   dsrc[k] = c dy[index[k]]."""

    owns_grads = False

    @staticmethod
    @quiet
    def forward(save, x, index, src, dim, c=1):
        save.index, save.dim, save.c = index, dim, c
        y = x.copy()
        np.add.at(y, (slice(None),) * dim + (index,), src if c == 1 else src * c)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy, None, dy.take(saved.index, saved.dim) * saved.c if saved.needs[2] else None


class IndexCopy(Op):
    """y = x with slice index[k] along `dim` = src[k];   dx = dy, 0 there;   dsrc[k] = dy[index[k]]."""

    owns_grads = False

    data_movement = True

    @staticmethod
    def forward(save, x, index, src, dim):
        save.index, save.dim = index, dim
        y = x.copy()
        kernels.of(y).index_copy(y, dim, index, src)
        return y

    @staticmethod
    def backward(saved, dy):
        dx = None
        if saved.needs[0]:
            dx = dy.copy()
            dx[(slice(None),) * saved.dim + (saved.index,)] = 0
        return dx, None, dy.take(saved.index, saved.dim) if saved.needs[2] else None


class IndexFill(Op):
    """y = x with the slices `index` along `dim` = c;   dx = dy, 0 there."""

    data_movement = True

    @staticmethod
    def forward(save, x, index, c, dim):
        save.index, save.dim = index, dim
        y = copied(x)
        y[(slice(None),) * dim + (index,)] = c
        return y

    @staticmethod
    def backward(saved, dy):
        dx = dy.copy()
        dx[(slice(None),) * saved.dim + (saved.index,)] = 0
        return dx, None


class MaskedSelect(Op):
    """y = the entries of x where mask, flat;   dx = dy there, 0 elsewhere."""

    data_movement = True

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


class MaskedScatter(Op):
    """y = x with the entries where mask = the first entries of src;   dx = dy, 0 there;   dsrc = dy there."""

    owns_grads = False

    data_movement = True

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


class Take(Op):
    """y = the entries of x at flat positions `index`;   dx = dy added back there."""

    @staticmethod
    def forward(save, x, index):
        save.index, save.shape = index, x.shape
        return x.take(index)

    @staticmethod
    def backward(saved, dy):
        dx = np.zeros(saved.shape, dy.dtype)
        np.add.at(dx.reshape(-1), saved.index, dy)
        return dx, None
