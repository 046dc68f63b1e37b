"""exp and log of float32 in float64 arithmetic, rounded once: an error of 0.5 units in the last place."""

import numpy as np

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import block, of_one
from badak.kernels.numba.codegen.floats import fma, rint, rounded
from badak.kernels.numba.lookup_tables import looked_up
from badak.kernels.numba.threadpool.parallel import parallel_exact

_LOG2_E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10


def _exp(x):
    """e^x = 2^n e^r for a float64 x that came from float32: n = round(x / ln 2), e^r by its series up to r^8."""
    x = -110.0 if x < -110.0 else x
    x = 90.0 if x > 90.0 else x
    n = rint(x * _LOG2_E)
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, x))
    p = fma(r, 1 / 40320, 1 / 5040)
    p = fma(r, p, 1 / 720)
    p = fma(r, p, 1 / 120)
    p = fma(r, p, 1 / 24)
    p = fma(r, p, 1 / 6)
    p = fma(r, p, 0.5)
    p = fma(r, p, 1.0)
    p = fma(r, p, 1.0)
    exponent = int(n if n == n else 0.0) + 1023
    return p * np.int64(exponent << 52).view(np.float64)


def _log(x):
    """ln x = e ln 2 + ln m for a float64 x > 0 that came from float32: ln m by its series in s = (m - 1) / (m + 1)."""
    bits = int(np.float64(x).view(np.int64))
    exponent = np.float64((bits >> 52) - 1023)
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    high = m > 1.4142135623730951
    m = 0.5 * m if high else m
    exponent = exponent + 1.0 if high else exponent
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = fma(z, 2 / 13, 2 / 11)
    p = fma(z, p, 2 / 9)
    p = fma(z, p, 2 / 7)
    p = fma(z, p, 2 / 5)
    p = fma(z, p, 2 / 3)
    y = fma(exponent, _LN2_HIGH, fma(exponent, _LN2_LOW, fma(s * z, p, 2.0 * s)))
    y = -np.inf if x == 0.0 else y
    y = np.nan if x < 0.0 else y
    return y if x < np.inf else x  # also where x is NaN


rounded(_exp)(lambda x: _exp)
rounded(_log)(lambda x: _log)


@parallel_exact("W1 R1")
def exp_block(task, y, x):
    """y = e^x."""
    y, x = block(task, y), block(task, x)
    for i in range(len(x)):
        y[i] = _exp(np.float64(x[i]))


@parallel_exact("W1 R1")
def log_block(task, y, x):
    """y = ln x."""
    y, x = block(task, y), block(task, x)
    for i in range(len(x)):
        y[i] = _log(np.float64(x[i]))


def _each(kernel, meaning, x):
    """The kernel on float32; bfloat16 is looked up, and of other numbers it is the meaning."""
    if x.dtype == BFLOAT16:
        return looked_up(meaning, x)
    return of_one(kernel, x, 0.5) if x.dtype == np.float32 else meaning(x)


def exp(x):
    """e^x."""
    return _each(exp_block, reference.exp, x)


def log(x):
    """ln x: -inf at 0, NaN below."""
    return _each(log_block, reference.log, x)
