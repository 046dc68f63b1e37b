"""The sum of two arrays, shared out: NumPy's uses one core. Bit for bit the same, as each sum is rounded once."""

import numpy as np

from badak.kernels import plain
from badak.kernels.fast._blocks import block, blocks_of
from badak.kernels.fast._parallel import parallel_exact
from badak.kernels.fast._team import team

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


def add(a, b, out=None):
    """y = a + b, into `out` where given, which may be a or b itself."""
    if team.size < 2 or not _fits(a, b) or not (out is None or out is a or out is b):
        return plain.add(a, b, out)
    if out is None:
        out = np.empty(a.shape, a.dtype)
        add_block(blocks_of(a.size), a.size * _COST, out.ravel(), a.ravel(), b.ravel())
    else:
        add_to_block(blocks_of(a.size), a.size * _COST, out.ravel(), (b if out is a else a).ravel())
    return out


def _fits(a, b):
    """Whether element i of one belongs to element i of the other in memory, from the first to the last."""
    return a.dtype is b.dtype and a.shape == b.shape and a.flags.c_contiguous and b.flags.c_contiguous
