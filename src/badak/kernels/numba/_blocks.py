"""How work is cut: by the shape alone, so that the bits of a result do not depend on the number of threads."""

import math

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.memory_format import turn
from badak.kernels.numba.codegen.compile import kernel

BLOCK = 16_384  # elements of a block: 64 KiB of float32, in the second cache together with its result
PARTS = 32  # most partial sums of a sum over rows
NOTHING = {np.dtype(t): np.empty(0, t) for t in (np.float32, np.float64, BFLOAT16)}  # what stands for an absent vector


def flat(x):
    """x as one contiguous axis; a copy only where it is not contiguous already."""
    return np.ascontiguousarray(x).reshape(-1)


def as_rows(x):
    """x (..., C) as contiguous (N, C)."""
    if x.ndim != 2:
        shape = x.shape
        x = x.reshape(math.prod(shape[:-1]), shape[-1])
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


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
    if not x.flags.c_contiguous and (turned := turn(x.shape, x)):
        return of_one(run, x.transpose(turned[0]), cost, *constants).transpose(turned[1])
    y = np.empty(x.shape, x.dtype)
    run(blocks_of(x.size), x.size * cost, y.ravel(), x.ravel(), *constants)  # ravel copies what is not contiguous
    return y


def of_two(run, dy, x, cost, *constants):
    """A fresh dx with run(dx, dy, x) done."""
    if turned := turn(x.shape, dy, x):
        axes, back = turned
        return of_two(run, dy.transpose(axes), x.transpose(axes), cost, *constants).transpose(back)
    dx = np.empty(x.shape, x.dtype)
    run(blocks_of(x.size), x.size * cost, dx.ravel(), dy.ravel(), x.ravel(), *constants)
    return dx
