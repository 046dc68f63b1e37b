"""Arrays side by side, each copied by as many threads as it deserves."""

import math

from badak.kernels import LARGE, reference
from badak.kernels.numba._blocks import rows_per_block
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.threadpool.parallel import call_log, parallel
from badak.kernels.numba.threadpool.pool import team
from badak.kernels.reference.concat import side_by_side

_FROM = 4 * LARGE  # elements: asking for the kernel takes 15 us, in which NumPy copies half of them
_COST = 0.3  # nanoseconds of one core per element


@parallel("X4 V4 i")
def copy_rows(task, y, x, rows):
    """`rows` rows of y (I, J, K, C) = x; the last axis of both is contiguous."""
    every = y.shape[0] * y.shape[1] * y.shape[2]
    for row in range(task * rows, min((task + 1) * rows, every)):
        batch, k = divmod(row, y.shape[2])
        i, j = divmod(batch, y.shape[1])
        target, source = unit_stride(y[i, j, k]), unit_stride(x[i, j, k])
        for c in range(target.size):
            target[c] = source[c]


def concatenate(xs, axis):
    """The arrays one after the other along `axis`."""
    first = xs[0]
    size = sum(x.size for x in xs)
    if ((size < _FROM or team.size < 2) and call_log.log is None) or not all(_like(x, first) for x in xs):
        return reference.concatenate(xs, axis)
    y, at = side_by_side(xs, axis), 0
    before = (slice(None),) * (axis % first.ndim)
    for x in xs:
        part = y[(*before, slice(at, at + x.shape[axis]))]
        at += x.shape[axis]
        if x.size:
            _copy(part, x)
    return y


def _copy(y, x):
    y, x = (each[(None,) * (4 - each.ndim)] for each in (y, x))
    rows = rows_per_block(y.shape[3])
    copy_rows(-(-math.prod(y.shape[:3]) // rows), y.size * _COST, y, x, rows)


def _like(x, first):
    """Whether `copy_rows` can copy it next to the first one."""
    return x.dtype is first.dtype and 0 < x.ndim <= 4 and x.ndim == first.ndim and x.strides[-1] == x.itemsize
