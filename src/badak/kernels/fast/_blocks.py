"""How work is cut: by the shape alone, so that the bits of a result do not depend on the number of threads."""

import math

import numpy as np

from badak.kernels.fast.compiler.compile import kernel
from badak.kernels.fast.threads.parallel import parallel, parallel_exact

BLOCK = 16_384  # elements of a block: 64 KiB of float32, in the second cache together with its result
PARTS = 32  # most partial sums of a sum over rows
NOTHING = {np.dtype(t): np.empty(0, t) for t in (np.float32, np.float64)}  # what stands for an absent vector


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


@parallel("W2 R2 i")
def column_sum_parts(task, parts, x, rows):
    """parts[task] = sum of the rows [task rows, (task + 1) rows) of x (N, C)."""
    part, first, last = parts[task], task * rows, min((task + 1) * rows, x.shape[0])
    part[:] = 0
    fours = last - (last - first) % 4
    for n in range(first, fours, 4):  # four rows for one look at the part: (1792, 128) in 5.4 instead of 8.6 us on two threads
        x0, x1, x2, x3 = x[n], x[n + 1], x[n + 2], x[n + 3]
        for c in range(x.shape[1]):
            part[c] = part[c] + x0[c] + x1[c] + x2[c] + x3[c]
    for n in range(fours, last):
        for c in range(x.shape[1]):
            part[c] += x[n, c]


def column_sum(x):
    """sum_n x[n] for x (N, C), in a fixed number of partial sums."""
    n, channels = x.shape
    rows = rows_per_part(n, channels)
    parts = np.empty((-(-n // rows), channels), x.dtype)
    column_sum_parts(len(parts), x.size // 4, parts, x, rows)
    return summed(parts)


@parallel_exact("W1 R2")
def sum_parts(task, y, parts):
    """y = parts[0] + parts[1] + ..., in order."""
    for c in range(y.size):  # not y[:] = parts[0], which takes 1.6 s to compile: checks of shapes, with texts of errors
        y[c] = parts[0, c]
    for p in range(1, parts.shape[0]):
        for c in range(y.size):
            y[c] += parts[p, c]


def summed(parts):
    """The sum of partial sums (P, ...), one after the other as NumPy adds them. One alone is that already."""
    if len(parts) == 1:
        return parts[0]
    if not parts.size or not parts.flags.c_contiguous:
        return parts.sum(axis=0)
    y = np.empty(parts.shape[1:], parts.dtype)
    sum_parts(1, 0, y.reshape(-1), parts.reshape(len(parts), -1))
    return y
