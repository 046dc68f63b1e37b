"""Float32 and bfloat16 side by side."""

import numpy as np

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.memory_format import turn
from badak.kernels.numba._blocks import block, blocks_of
from badak.kernels.numba.threadpool.parallel import parallel_exact

_COST = 0.3  # nanoseconds of one core per element that comes from memory


@parallel_exact("W1 R1 Rh1")
def add_half(task, y, x, half):
    """y = x + half, half being bfloat16."""
    y, x, half = block(task, y), block(task, x), block(task, half)
    for i in range(y.size):
        y[i] = x[i] + half[i]


def add_mixed(a, b):
    """y = a + b in float32, of one in float32 and one in bfloat16, both of one shape."""
    turned = turn(a.shape, a, b)
    left, right = (a, b) if turned is None else (a.transpose(turned[0]), b.transpose(turned[0]))
    if not (left.flags.c_contiguous and right.flags.c_contiguous):
        return reference.add_mixed(a, b)
    y = _add(left, right)
    return y if turned is None else y.transpose(turned[1])


def _add(a, b):
    wide, half = (a, b) if b.dtype == BFLOAT16 else (b, a)
    y = np.empty(wide.shape, wide.dtype)
    add_half(blocks_of(y.size), y.size * _COST, y.reshape(-1), wide.reshape(-1), half.reshape(-1))
    return y
