"""Functions of one bfloat16: it has 65,536 values, so their results are computed once and looked up.

The meaning in `reference` computes them in float64, so that each is rounded right. Numbers of a layer share a few exponents and
so a few KiB of a table, which stay in the first cache: a GELU took 0.63 ns a number on one core, a look 0.25.
"""

from functools import cache

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import block, of_all, of_one
from badak.kernels.numba.codegen.bfloat16 import STORED, bits
from badak.kernels.numba.codegen.compile import overload
from badak.kernels.numba.threadpool.parallel import parallel_exact

_COST = 0.25  # nanoseconds of one core per element
_PIECE = 1_024  # slopes that are looked up at a time: looking does not vectorise, multiplying and rounding does


@cache
def _values(function, *constants):
    """function(x, *constants) of every bfloat16 x, at the place that x's bits are as a number."""
    return _kept(function(_every(), *constants), BFLOAT16)


@cache
def _scales(backward, *constants):
    """The float32 by which backward(dy, x, *constants) multiplies dy, for every bfloat16 x."""
    x = _every()
    return _kept(backward(np.ones_like(x), x, *constants), np.float32)


def _every():
    with np.errstate(invalid="ignore"):  # NaNs among them
        return np.arange(1 << 16, dtype=STORED).view(BFLOAT16).astype(np.float64)


def _kept(table, dtype):
    with np.errstate(over="ignore"):
        table = table.astype(dtype)
    table.flags.writeable = False  # so that a recording may read it: nothing else will stand there
    return table


def _look(y, x, table):
    """y[i] = table[bits of x[i]]."""
    y[...] = table[bits(x)]


@overload(_look)
def _(y, x, table):
    def look(y, x, table):
        made, given, found = bits(y), bits(x), bits(table)
        for i in range(given.size):
            made[i] = found[given[i]]

    return look


@parallel_exact("W1 R1 R1", dtypes=(BFLOAT16,))
def value_block(task, y, x, table):
    """y = the function of x; table: `_values`."""
    _look(block(task, y), block(task, x), table)


@parallel_exact("W1 R1 R1 Rf1", dtypes=(BFLOAT16,))
def scale_block(task, dx, dy, x, table):
    """dx = dy times the slope at x; table: `_scales`."""
    dx, dy, places = block(task, dx), block(task, dy), bits(block(task, x))
    slopes = np.empty(_PIECE, np.float32)
    for start in range(0, dx.size, _PIECE):
        here = places[start : start + _PIECE]
        for i in range(here.size):
            slopes[i] = table[here[i]]
        piece, given = dx[start : start + _PIECE], dy[start : start + _PIECE]
        for i in range(piece.size):
            piece[i] = given[i] * slopes[i]


def looked_up(function, x, *constants):
    """function(x, *constants) of bfloat16."""
    return of_one(value_block, x, _COST, _values(function, *constants))


def scaled(backward, dy, x, *constants):
    """backward(dy, x, *constants) of bfloat16, which is dy times a function of x."""
    return of_all(scale_block, (dy, x), 2 * _COST, _scales(backward, *constants))
