"""Where a result is summed up in several steps: in the result itself, or, if it is bfloat16, in float32 beside it."""

import numpy as np

from badak.kernels.fast.compiler.bfloat16 import is_bfloat16
from badak.kernels.fast.compiler.compile import overload

__all__ = ["rounded_to", "summing"]


def summing(x):
    """Zeros that stand for x (one or two axes) while it is summed up: x itself, or float32 if x is bfloat16."""
    x[...] = 0
    return x


def rounded_to(x, sums):
    """x = the sums of `summing(x)`, rounded once."""


@overload(summing)
def _(x):
    if is_bfloat16(x):
        return lambda x: np.zeros(x.shape, np.float32)

    def run(x):
        x[...] = 0
        return x

    return run


@overload(rounded_to)
def _(x, sums):
    if not is_bfloat16(x):
        return lambda x, sums: None
    if x.ndim == 1:

        def run(x, sums):
            for i in range(x.shape[0]):
                x[i] = sums[i]

    else:

        def run(x, sums):
            for i in range(x.shape[0]):
                row = x[i]
                for j in range(x.shape[1]):
                    row[j] = sums[i, j]

    return run
