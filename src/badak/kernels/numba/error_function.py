"""The error function, as a function of one number."""

import math

import numpy as np

from badak.kernels.numba._maps import mapped
from badak.kernels.numba.codegen.floats import fma, is_float32, rounded
from badak.kernels.numba.simd.functions import normal

_f = np.float32
_ROOT_2 = _f(math.sqrt(2))
# erf(x) / x by powers of x^2: 2 / sqrt(pi) (-1)^n / (n! (2 n + 1))
_SERIES = [_f(2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1))) for n in range(11)]
_S0, _S1, _S2, _S3, _S4, _S5, _S6, _S7, _S8, _S9, _S10 = _SERIES


def _of_one(x):
    return x.dtype.type(math.erf(x))


def _of_one32(x):
    # Two formulas, both computed, one chosen: near 0 the difference 2 Phi(sqrt(2) x) - 1 would lose digits.
    z = x * x
    p = fma(z, _S10, _S9)
    p = fma(z, p, _S8)
    p = fma(z, p, _S7)
    p = fma(z, p, _S6)
    p = fma(z, p, _S5)
    p = fma(z, p, _S4)
    p = fma(z, p, _S3)
    p = fma(z, p, _S2)
    p = fma(z, p, _S1)
    p = fma(z, p, _S0)
    cumulative = normal(x * _ROOT_2)[0]
    return (cumulative - _f(0.5)) * _f(2) if abs(x) > _f(1) else x * p


@rounded(_of_one)
def _(x):
    return _of_one32 if is_float32(x) else (lambda x: math.erf(x))


@mapped(1.5)
def erf(x):
    """erf of every element."""
    return _of_one(x)
