"""The sum of two arrays, shared out: NumPy's uses one core. Bit for bit the same, as each sum is rounded once."""

import numpy as np

from badak.kernels import plain
from badak.kernels.fast._blocks import block, blocks_of, rows_per_block
from badak.kernels.fast.compiler.arrays import unit_stride
from badak.kernels.fast.threads.parallel import call_log, parallel_exact
from badak.kernels.fast.threads.team import team
from badak.kernels.order import turn

_COST = 0.31  # nanoseconds of one core per element that comes from memory


@parallel_exact("W1 R1 R1")
def add_block(task, y, a, b):
    """y = a + b; y is neither a nor b."""
    y, a, b = block(task, y), block(task, a), block(task, b)
    for i in range(y.size):
        y[i] = a[i] + b[i]


@parallel_exact("W1 R1")
def add_to_block(task, y, x):
    """y = y + x. Apart from `add_block`, whose loop is not vectorised where y is a: it might overlap in other ways."""
    y, x = block(task, y), block(task, x)
    for i in range(y.size):
        y[i] = y[i] + x[i]


@parallel_exact("W4 V4 V4 i")
def add_rows(task, y, a, b, rows):
    """`rows` rows of y (I, J, K, C) = a + b; the last axis of each is contiguous."""
    every = y.shape[0] * y.shape[1] * y.shape[2]
    for row in range(task * rows, min((task + 1) * rows, every)):
        batch, k = divmod(row, y.shape[2])
        i, j = divmod(batch, y.shape[1])
        total, left, right = unit_stride(y[i, j, k]), unit_stride(a[i, j, k]), unit_stride(b[i, j, k])
        for c in range(total.size):
            total[c] = left[c] + right[c]


def add(a, b, out=None):
    """y = a + b, into `out` where given, which may be a or b itself."""
    if (team.size < 2 and call_log.log is None) or not (out is None or out is a or out is b):
        return plain.add(a, b, out)
    if not _fits(a, b):
        return _add_stretched(a, b) if out is None else plain.add(a, b, out)
    if out is None:
        out = np.empty(a.shape, a.dtype)
        add_block(blocks_of(a.size), a.size * _COST, out.ravel(), a.ravel(), b.ravel())
    else:
        add_to_block(blocks_of(a.size), a.size * _COST, out.ravel(), (b if out is a else a).ravel())
    return out


def _stretches(a, b):
    """Whether the last axes have one size, contiguous in both, and the others fit into three."""
    return (
        a.dtype is b.dtype
        and 0 < a.ndim <= 4
        and 0 < b.ndim <= 4
        and a.shape[-1] == b.shape[-1] > 0
        and a.strides[-1] == b.strides[-1] == a.itemsize
        and a.size + b.size > 0
    )


def _add_stretched(a, b):
    shape = np.broadcast_shapes(a.shape, b.shape)
    if turned := turn(shape, a, b):
        axes, back = turned
        return _add_stretched(*(np.broadcast_to(x, shape).transpose(axes) for x in (a, b))).transpose(back)
    if not _stretches(a, b):
        return plain.add(a, b)
    y = np.empty(shape, a.dtype)
    rows = rows_per_block(shape[-1])
    four = [np.broadcast_to(x, shape)[(None,) * (4 - len(shape))] for x in (a, b)]
    add_rows(-(-(y.size // shape[-1]) // rows), y.size * _COST, y[(None,) * (4 - len(shape))], *four, rows)
    return y


def _fits(a, b):
    """Whether element i of one belongs to element i of the other in memory, from the first to the last."""
    return a.dtype is b.dtype and a.shape == b.shape and a.flags.c_contiguous and b.flags.c_contiguous
