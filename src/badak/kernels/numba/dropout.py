"""Inverted dropout in one pass."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.memory_format import turn
from badak.kernels.numba._blocks import block, blocks_of
from badak.kernels.numba.threadpool.parallel import parallel


@parallel("W1 R1 R?1 f")
def dropout_block(task, y, x, keep, scale):
    """y = x scale where keep, else 0 x: NaN and infinity are seen where they were."""
    zero = x.dtype.type(0)
    y, x, keep = block(task, y), block(task, x), block(task, keep)
    for i in range(x.size):
        y[i] = x[i] * (scale if keep[i] else zero)


def dropout(x, keep, p):
    """y = x keep / (1 - p).    keep bool of x's shape; the factor is rounded to x's type as in `reference`."""
    if turned := turn(x.shape, x, keep):
        axes, back = turned
        return dropout(x.transpose(axes), keep.transpose(axes), p).transpose(back)
    number = value_dtype(x.dtype).type
    scale = x.dtype.type(number(1) / number(1 - p)) if p < 1 else x.dtype.type(0)
    y = np.empty(x.shape, x.dtype)
    dropout_block(blocks_of(x.size), x.size * 0.4, y.ravel(), x.ravel(), keep.ravel(), number(scale))
    return y
