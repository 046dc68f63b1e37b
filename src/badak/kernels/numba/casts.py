"""From one float to another, by all threads: ml_dtypes' casts of bfloat16 take one number at a time."""

import numpy as np

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.memory_format import turn
from badak.kernels.numba._blocks import block, blocks_of
from badak.kernels.numba.threadpool.parallel import call_log, parallel_exact

_FROM = 2_048  # numbers from which on a kernel is sooner done than NumPy; what is recorded is replayed as a kernel only
_COST = 0.2  # nanoseconds of one core per element


@parallel_exact("Wh1 R1")
def narrow(task, y, x):
    """y, bfloat16, = x rounded."""
    y, x = block(task, y), block(task, x)
    for i in range(x.size):
        y[i] = x[i]


@parallel_exact("W1 Rh1")
def widen(task, y, x):
    """y = x, bfloat16."""
    y, x = block(task, y), block(task, x)
    for i in range(x.size):
        y[i] = x[i]


def vector(x, dtype):
    """x as a contiguous array of another dtype."""
    if x.dtype is dtype and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(cast(x, dtype))


def vector_or(number, x, size, dtype):
    """x as `vector` gives it; where it is None, `size` times the number."""
    return np.full(size, number, dtype) if x is None else vector(x, dtype)


def cast(x, dtype):
    """x in another dtype, as x lies in memory; x itself where it has the dtype."""
    if x.dtype == dtype:
        return x
    if x.size < _FROM and call_log.log is None:
        return reference.cast(x, dtype)
    if dtype == BFLOAT16 and x.dtype.char in "fd":
        kernel = narrow
    elif x.dtype == BFLOAT16 and dtype.char in "fd":
        kernel = widen
    else:
        return reference.cast(x, dtype)
    if not x.flags.c_contiguous and (turned := turn(x.shape, x)):
        return cast(x.transpose(turned[0]), dtype).transpose(turned[1])
    y = np.empty(x.shape, dtype)
    kernel(blocks_of(x.size), x.size * _COST, y.reshape(-1), x.ravel())
    return y
