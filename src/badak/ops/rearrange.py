"""The same numbers in new memory: joined, repeated, turned, cut to a triangle, padded, copied."""

import numpy as np

from badak import kernels
from badak.graph import Op


class Reshape(Op):
    """y = x in another shape, where no view can show it;   dx = dy in x's shape."""

    @staticmethod
    def forward(save, x, shape):
        save.shape = x.shape
        return x.reshape(shape)

    @staticmethod
    def backward(saved, dy):
        return dy.reshape(saved.shape)


class Cat(Op):
    """y = the x_k one after the other along `axis`;   dx_k = its part of dy."""

    by_kernels = True

    @staticmethod
    def forward(save, *xs, axis):
        save.axis, save.sizes = axis, [x.shape[axis] for x in xs]
        return kernels.of(xs[0]).concatenate(xs, axis)

    @staticmethod
    def backward(saved, dy):
        before, at, dxs = (slice(None),) * saved.axis, 0, []
        for n, need in zip(saved.sizes, saved.needs):
            dxs.append(dy[(*before, slice(at, at + n))] if need else None)
            at += n
        return tuple(dxs)


class Stack(Op):
    """y[k] = x_k along a new `axis`;   dx_k = dy[k]."""

    @staticmethod
    def forward(save, *xs, axis):
        save.axis = axis
        key = (slice(None),) * axis + (None,)
        return np.concatenate([x[key] for x in xs], axis)

    @staticmethod
    def backward(saved, dy):
        before = (slice(None),) * saved.axis
        return tuple([dy[(*before, k)] if need else None for k, need in enumerate(saved.needs)])


class Flip(Op):
    """y = x with the order along `axes` reversed;   dx = dy with it reversed back."""

    fresh = True

    @staticmethod
    def forward(save, x, axes):
        save.axes = axes
        return np.flip(x, axes).copy()

    @staticmethod
    def backward(saved, dy):
        return np.flip(dy, saved.axes).copy()


class Roll(Op):
    """y[i + shift] = x[i], around the end, along each of `axes` (None: as if flat);   dx = dy rolled back."""

    fresh = True

    @staticmethod
    def forward(save, x, shifts, axes):
        save.shifts, save.axes = shifts, axes
        return np.roll(x, shifts, axes)

    @staticmethod
    def backward(saved, dy):
        return np.roll(dy, tuple(-s for s in saved.shifts), saved.axes)


class Repeat(Op):
    """y = x laid out times[a] times along each axis a;   dx = the sum of dy over the copies."""

    fresh = True

    @staticmethod
    def forward(save, x, times):
        save.shape, save.times = x.shape, times
        return np.tile(x, times)

    @staticmethod
    def backward(saved, dy):
        times = saved.times
        shape = (1,) * (len(times) - len(saved.shape)) + saved.shape
        copies = dy.reshape([n for pair in zip(times, shape) for n in pair])  # (times, size, times, size, ...)
        return copies.sum(tuple(range(0, 2 * len(times), 2)), dtype=dy.dtype).reshape(saved.shape)


class RepeatInterleave(Op):
    """y = each entry of x along `axis`, `times` times in a row (a number, or one for each entry);   dx = sums of dy."""

    fresh = True

    @staticmethod
    def forward(save, x, times, axis):
        save.shape, save.times, save.axis = x.shape, times, axis
        return np.repeat(x, times, axis)

    @staticmethod
    def backward(saved, dy):
        shape, times, axis = saved.shape, saved.times, saved.axis
        if isinstance(times, int):
            apart = dy.reshape(*shape[: axis + 1], times, *shape[axis + 1 :])
            return apart.sum(axis + 1, dtype=dy.dtype)
        dx = np.zeros(shape, dy.dtype)
        rows = np.repeat(np.arange(shape[axis]), times)
        np.add.at(dx, (slice(None),) * axis + (rows,), dy)
        return dx


class Tril(Op):
    """y = x on and below diagonal k of its last two axes, 0 above;   dx = the same of dy."""

    fresh = True

    @staticmethod
    def forward(save, x, k=0):
        save.k = k
        return np.tril(x, k)

    @staticmethod
    def backward(saved, dy):
        return np.tril(dy, saved.k)


class Triu(Op):
    """y = x on and above diagonal k of its last two axes, 0 below;   dx = the same of dy."""

    fresh = True

    @staticmethod
    def forward(save, x, k=0):
        save.k = k
        return np.triu(x, k)

    @staticmethod
    def backward(saved, dy):
        return np.triu(dy, saved.k)


def _windows(shape, pads):
    """Where the input and its padded output overlap: (slices of the input, slices of the output)."""
    inside, outside = [], []
    for n, (before, after) in zip(shape, pads):
        inside.append(slice(max(0, -before), max(0, n - max(0, -after))))
        outside.append(slice(max(0, before), max(0, n + before + min(0, after))))
    return tuple(inside), tuple(outside)


class Pad(Op):
    """y = x with pads[a] = (before, after) entries of `value` along each axis, negative ones cut off;   dx = dy inside."""

    fresh = True

    @staticmethod
    def forward(save, x, pads, value=0.0):
        save.shape, save.pads = x.shape, pads
        inside, outside = _windows(x.shape, pads)
        y = np.full([n + before + after for n, (before, after) in zip(x.shape, pads)], value, x.dtype)
        y[outside] = x[inside]
        return y

    @staticmethod
    def backward(saved, dy):
        inside, outside = _windows(saved.shape, saved.pads)
        dx = np.zeros(saved.shape, dy.dtype)
        dx[inside] = dy[outside]
        return dx


class PadBy(Op):
    """y = x with entries of its own around it: for each (axis, rows) of `takes`, y[i] = x[rows[i]] along that axis.

    dx[rows[i]] += dy[i]. `rows` mirror, repeat or wrap around the edge.
    """

    fresh = True

    @staticmethod
    def forward(save, x, takes):
        save.takes, save.shapes = takes, []
        for axis, rows in takes:
            save.shapes.append(x.shape)
            x = x.take(rows, axis)
        return x

    @staticmethod
    def backward(saved, dy):
        for (axis, rows), shape in zip(reversed(saved.takes), reversed(saved.shapes)):
            dx = np.zeros(shape, dy.dtype)
            np.add.at(dx, (slice(None),) * axis + (rows,), dy)
            dy = dx
        return dy
