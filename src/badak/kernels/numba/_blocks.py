"""How work is cut: by the shape alone, so that the bits of a result do not depend on the number of threads."""

import math

import numpy as np

from badak.kernels import LARGE
from badak.kernels.half import BFLOAT16
from badak.kernels.memory_format import turn
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.threadpool.parallel import call_log, parallel
from badak.kernels.numba.threadpool.pool import team

BLOCK = 16_384  # elements of a block: 64 KiB of float32, in the second cache together with its result
PARTS = 32  # most partial sums of a sum over rows
_COPIED = 4 * LARGE  # elements: asking for the kernel takes 15 us, in which NumPy copies half of them
PER_COPY = 0.3  # nanoseconds of one core per element that is copied
NOTHING = {np.dtype(t): np.empty(0, t) for t in (np.float32, np.float64, BFLOAT16)}  # what stands for an absent vector


def flat(x):
    """x as one contiguous axis; a copy only where it is not contiguous already."""
    return contiguous(x).reshape(-1)


def as_rows(x):
    """x (..., C) as contiguous (N, C)."""
    if not x.flags.c_contiguous:
        x = contiguous(x)
    return x if x.ndim == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def contiguous(x):
    """x, or a copy that is row-major: by all threads, and in a recorded step by a kernel, which needs no Python then."""
    if x.flags.c_contiguous:
        return x
    if x.ndim > 4 or x.strides[-1] != x.itemsize or x.dtype not in NOTHING or not copies(x.size):
        return np.ascontiguousarray(x)
    y = np.empty(x.shape, x.dtype)
    if x.size:
        copy(y, x)
    return y


def copies(size):
    """Whether `copy_rows` is to copy so many elements."""
    return call_log.log is not None or (size >= _COPIED and team.size > 1)


@parallel("X4 V4 i")
def copy_rows(task, y, x, rows):
    """`rows` rows of y (I, J, K, C) = x; the last axis of both is contiguous."""
    every = y.shape[0] * y.shape[1] * y.shape[2]
    batch, k = divmod(task * rows, y.shape[2])
    i, j = divmod(batch, y.shape[1])
    for _ in range(task * rows, min((task + 1) * rows, every)):
        target, source = unit_stride(y[i, j, k]), unit_stride(x[i, j, k])
        for c in range(target.size):
            target[c] = source[c]
        k += 1
        if k == y.shape[2]:
            j, k = j + 1, 0
            if j == y.shape[1]:
                i, j = i + 1, 0


def copy(y, x):
    """y = x, of at most four axes, the last one without gaps."""
    y, x = (each[(None,) * (4 - each.ndim)] for each in (y, x))
    rows = rows_per_block(y.shape[3])
    copy_rows(-(-math.prod(y.shape[:3]) // rows), y.size * PER_COPY, y, x, rows)


def blocks_of(size):
    """Blocks of a flat array."""
    return -(-size // BLOCK)


def rows_per_block(channels):
    """Rows of a block of (N, C)."""
    return max(1, BLOCK // max(channels, 1))


def rows_per_part(n, channels):
    """Rows that one partial sum takes: about a block, more where there would be more than PARTS partial sums."""
    return max(rows_per_block(channels), -(-n // PARTS))


@kernel
def block(task, x):
    """Block number `task` of a flat array, as a view. A loop over it from 0 vectorises; one from task BLOCK on does not,
    because its index might be negative (measured: relu 0.6 against 0.15 ns an element)."""
    return x[task * BLOCK : (task + 1) * BLOCK]


def of_one(run, x, cost, *constants):
    """A fresh y with run(y, x) done; cost: nanoseconds of one core per element."""
    if not x.flags.c_contiguous:
        if turned := turn(x.shape, x):
            return of_one(run, x.transpose(turned[0]), cost, *constants).transpose(turned[1])
        x = contiguous(x)
    y = np.empty(x.shape, x.dtype)
    run(blocks_of(x.size), x.size * cost, y.ravel(), x.ravel(), *constants)
    return y


def of_all(run, xs, cost, *constants):
    """A fresh y with run(y, *xs) done, arrays of one shape; dtype and cost are those of the last one."""
    if turned := turn(xs[-1].shape, *xs):
        axes, back = turned
        return of_all(run, [x.transpose(axes) for x in xs], cost, *constants).transpose(back)
    y = np.empty(xs[-1].shape, xs[-1].dtype)
    run(blocks_of(y.size), y.size * cost, y.ravel(), *[flat(x) for x in xs], *constants)
    return y
