"""The same numbers in other places of new memory: turned, moved around the end, repeated, copied."""

import numpy as np

from badak import kernels
from badak.ops._broadcast import by_rows, elementwise, reshaped_as, zeros
from badak.ops.along import IndexAdd
from badak.ops.batching import aligned, along, reshaped
from badak.ops.op import Moving, Op


class Reshape(Moving, Op):
    """y = x in another shape, where no view can show it;   dx = dy in x's shape."""

    owns_grads = False
    capturable = True
    batching = staticmethod(reshaped)

    @staticmethod
    def forward(save, x, shape):
        save.shape = x.shape
        return kernels.of(x).contiguous(x).reshape(shape)

    @staticmethod
    def backward(saved, dy):
        return reshaped_as(dy, saved.shape)


class Flip(Moving, Op):
    """y = x with the order along `axes` reversed;   dx = dy with it reversed back."""

    batching = staticmethod(along("axes"))

    @staticmethod
    @elementwise
    def forward(save, x, axes):
        save.axes = axes
        return np.flip(x, axes).copy("K")

    @staticmethod
    def backward(saved, dy):
        return np.flip(dy, saved.axes).copy()


class Roll(Moving, Op):
    """y[i + shift] = x[i], around the end, along each of `axes` (None: as if flat);   dx = dy rolled back."""

    @staticmethod
    @by_rows
    def forward(save, x, shifts, axes):
        save.shifts, save.axes = shifts, axes
        return np.roll(x, shifts, axes)

    @staticmethod
    def backward(saved, dy):
        return np.roll(dy, tuple(-s for s in saved.shifts), saved.axes)

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        if attributes["axes"] is None:
            return run(op, xs[0].flatten(1), shifts=attributes["shifts"], axes=(1,)).reshape(xs[0].shape)
        return along("axes")(run, op, xs, batched, attributes)


class Repeat(Op):
    """y = x laid out times[a] times along each axis a;   dx = the sum of dy over the copies."""

    saves_no_tensors = True
    keeps_finite = True

    @staticmethod
    @by_rows
    def forward(save, x, times):
        save.shape, save.times = x.shape, times
        return np.tile(x, times)

    @staticmethod
    def backward(saved, dy):
        times = saved.times
        shape = (1,) * (len(times) - len(saved.shape)) + saved.shape
        copies = dy.reshape([n for pair in zip(times, shape) for n in pair])  # (times, size, times, size, ...)
        return copies.sum(tuple(range(0, 2 * len(times), 2)), dtype=dy.dtype).reshape(saved.shape)

    @staticmethod
    def double_backward(saved, dy):
        times, lead = saved.times, (1,) * (len(saved.times) - len(saved.shape))
        copies = dy.reshape([n for pair in zip(times, lead + saved.shape) for n in pair])
        return copies.sum(tuple(range(0, 2 * len(times), 2))).reshape(saved.shape)

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        times = attributes["times"]
        return run(op, aligned(xs[0], len(times)), times=(1, *times))


class RepeatInterleave(Op):
    """y = each entry of x along `axis`, `times` times in a row (a number, or one for each entry);   dx = sums of dy."""

    sized_by_values = staticmethod(lambda times, axis: not isinstance(times, int))

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

    @staticmethod
    def double_backward(saved, dy):
        times = saved.times
        rows = np.repeat(np.arange(saved.shape[saved.axis]), times)
        return IndexAdd.of(zeros(saved.shape, dy), rows, dy, dim=saved.axis)
