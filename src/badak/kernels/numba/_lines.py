"""Arrays that are stretched to one shape, seen as four axes: three over lines, and a line, which an array fills or is one
number of.

Axes that lie behind each other in all arrays become one: two arrays of (8, 256, 384) are one line, a bias next to them makes
2048 lines of 384.
"""

import math
from functools import lru_cache

import numpy as np

from badak.kernels.memory_format import empty, turn
from badak.kernels.numba._blocks import BLOCK


def stretched(*xs):
    """The common shape of arrays."""
    shape = xs[0].shape
    return shape if all(x.shape == shape for x in xs) else np.broadcast_shapes(*(x.shape for x in xs))


def made_like(shape, dtype, xs):
    """An empty array that lies as an elementwise result of xs does, and the arrays as `lines` wants them; None where it cannot."""
    turned = turn(shape, *xs)
    y = empty(shape, dtype, turned)
    return y, lines(y, xs, turned)


def lines(y, xs, turned=None):
    """(y, *xs) as views of four axes, axes of size 1 to be stretched; None where a line is scattered or axes are too many."""
    seen = _plan(y.shape, None if turned is None else turned[0], *[(x.shape, x.strides, x.itemsize) for x in (y, *xs)])
    return seen and [_view(x, *how) for x, how in zip((y, *xs), seen)]


def _view(x, index, aligned, axes, four):
    if index is not None:
        x = x[index]
    if axes is not None:
        x = x.reshape(aligned).transpose(axes)
    return x.reshape(four)


@lru_cache(4096)
def _plan(shape, axes, *arrays):
    """For each array: (the index that leaves one of what is stretched already, its shape aligned, the axes, four sizes)."""
    order = range(len(shape)) if axes is None else axes
    steps = []
    for sizes, strides, _ in arrays:
        known = [0 if n == 1 else step for n, step in zip(sizes, strides)]
        steps.append([0] * (len(shape) - len(sizes)) + known)
    merged: list = []  # [size, the step of each array], from the outermost axis on
    for axis in order:
        size, step = shape[axis], [each[axis] for each in steps]
        if size == 1:
            continue
        if merged and all(before == now * size for before, now in zip(merged[-1][1], step)):
            merged[-1] = [merged[-1][0] * size, step]
        else:
            merged.append([size, step])
    if 0 in shape or len(merged) > 4:
        return None
    merged = [[1, [0] * len(arrays)]] * (4 - len(merged)) + merged
    if any(step not in (0, width) for step, (_, _, width) in zip(merged[3][1], arrays)):
        return None
    return [_way(shape, axes, array, [step[i] for _, step in merged], merged) for i, array in enumerate(arrays)]


def _way(shape, axes, array, steps, merged):
    sizes, strides, _ = array
    still = [n > 1 and step == 0 for n, step in zip(sizes, strides)]
    index = tuple(slice(0, 1) if each else slice(None) for each in still) if any(still) else None
    sizes = [1 if each else n for n, each in zip(sizes, still)]
    aligned = (*[1] * (len(shape) - len(sizes)), *sizes)
    return index, aligned, axes, tuple(n if step else 1 for step, (n, _) in zip(steps, merged))


def cut(y):
    """(tasks, lines of a task, numbers of a line that it takes) of y (I, J, K, C), about a block each."""
    lines, length = math.prod(y.shape[:3]), y.shape[3]
    width = min(length, BLOCK)
    step = max(1, BLOCK // width)
    return -(-lines // step) * -(-length // width), step, width
