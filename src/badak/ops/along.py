"""Entries and slices along one axis, by their positions: picked, put back, added. `dim` counts from 0."""

import numpy as np

from badak import kernels
from badak.kernels.memory_format import copied
from badak.ops._broadcast import add_rows, by_rows, quiet, zeros
from badak.ops.batching import every
from badak.ops.index import Index, IndexPut
from badak.ops.op import Op


def grid(index, dim):
    """The key with which x[key] picks x[i0, .., index[i0, .., in], .., in], `index` replacing the coordinate `dim`."""
    n = index.ndim
    return tuple(
        index if a == dim else np.arange(size).reshape((1,) * a + (size,) + (1,) * (n - 1 - a))
        for a, size in enumerate(index.shape)
    )


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

    @staticmethod
    def double_backward(saved, dy):
        if not saved.shape:
            return dy.sum().reshape(()), None
        return ScatterAdd.of(zeros(saved.shape, dy), saved.index, dy, dim=saved.dim), None


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

    double_backward = Gather.double_backward


def _part(src, index):
    """The corner of src that a smaller index uses."""
    return src if src.shape == index.shape else src[tuple(map(slice, index.shape))]


def _picked(saved, dy):
    """dy at the positions, 0 for the entries of src that a smaller index leaves out."""
    part = Gather.of(dy, saved.index, dim=saved.dim)
    if part.shape == saved.shape:
        return part
    return IndexPut.of(zeros(saved.shape, dy), part, key=tuple(map(slice, part.shape)))


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

    @staticmethod
    def double_backward(saved, dy):
        dx = ScatterFill.of(dy, saved.index, c=0, dim=saved.dim) if saved.needs[0] else None
        return dx, None, _picked(saved, dy) if saved.needs[2] else None


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

    @staticmethod
    def double_backward(saved, dy):
        return ScatterFill.of(dy, saved.index, c=0, dim=saved.dim), None


class ScatterAdd(Op):
    """y = x with y[.., index[i], ..] += src[i] along `dim`;   dx = dy;   dsrc = dy there."""

    owns_grads = False
    light_for = (0,)

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

    @staticmethod
    def double_backward(saved, dy):
        return dy, None, _picked(saved, dy) if saved.needs[2] else None


def _along_one_index(run, op, xs, batched, attributes):
    """Op.batching where all examples have one index."""
    if batched[1]:
        return NotImplemented
    x, index, *src = xs
    x, *src = every([x, *src], [batched[0], *batched[2:]])
    return run(op, x, index, *src, **attributes | {"dim": attributes["dim"] + 1}) if x.ndim > 1 else NotImplemented


class IndexSelect(Op):
    """y's k-th slice along `dim` = x's slice index[k];   dx = dy's slices added back."""

    @staticmethod
    def forward(save, x, index, dim):
        save.index, save.shape, save.dim = index, x.shape, dim
        return x.take(index, dim)

    @staticmethod
    def backward(saved, dy):
        return add_rows(saved.shape, saved.dim, saved.index, dy), None

    @staticmethod
    def double_backward(saved, dy):
        return IndexAdd.of(zeros(saved.shape, dy), saved.index, dy, dim=saved.dim), None

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        (x, index), dim = xs, attributes["dim"]
        if not batched[1]:
            return run(op, x, index, dim=dim + 1)
        if not batched[0]:
            return run(Index, x.movedim(dim, 0), key=(index._array,)).movedim(1, dim + 1)
        key = (np.arange(len(x))[:, None], index._array)
        return run(Index, x.movedim(dim + 1, 1), key=key).movedim(1, dim + 1)


class IndexAdd(Op):
    """y = x with slice index[k] along `dim` += c src[k];   dx = dy;   dsrc[k] = c dy[index[k]]."""

    owns_grads = False
    batching = staticmethod(_along_one_index)
    light_for = (0,)

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

    @staticmethod
    def double_backward(saved, dy):
        return dy, None, IndexSelect.of(dy, saved.index, dim=saved.dim) * saved.c if saved.needs[2] else None


class IndexCopy(Op):
    """y = x with slice index[k] along `dim` = src[k];   dx = dy, 0 there;   dsrc[k] = dy[index[k]]."""

    owns_grads = False

    data_movement = True
    batching = staticmethod(_along_one_index)

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

    @staticmethod
    def double_backward(saved, dy):
        dx = IndexFill.of(dy, saved.index, c=0, dim=saved.dim) if saved.needs[0] else None
        return dx, None, IndexSelect.of(dy, saved.index, dim=saved.dim) if saved.needs[2] else None


class IndexFill(Op):
    """y = x with the slices `index` along `dim` = c;   dx = dy, 0 there."""

    data_movement = True
    batching = staticmethod(_along_one_index)

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

    @staticmethod
    def double_backward(saved, dy):
        return IndexFill.of(dy, saved.index, c=0, dim=saved.dim), None
