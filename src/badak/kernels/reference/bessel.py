"""Modified Bessel functions of the first kind, the scaled complement of the error function, incomplete gamma functions; float64.

Sources: NIST Digital Library of Mathematical Functions, 10.25.2 and 10.40.1 (Bessel), 7.10 (erfc), 8.7.1 and 8.9.2 (gamma).
"""

import math

import numpy as np

from badak.kernels.reference._arrays import Array
from badak.kernels.reference._erf import C, D, _polynomial, erf
from badak.kernels.reference.special import P, Q, _in_double, gamma_slope, lgamma

FAR = 30.0  # from here on the asymptotic series is exact to rounding
ENOUGH = 20_000  # terms of a series or a fraction after which it counts as what it has come to


def _scaled(n: int, x: Array) -> Array:
    """exp(-|x|) I_n(x): the sum over k of (|x| / 2)^(2 k + n) / (k! (k + n)!), or its asymptotic series."""
    a = np.abs(x)
    near = np.minimum(a, FAR)
    term = (near / 2) ** n / math.factorial(n)
    total = term
    for k in range(1, 80):
        term = term * (near / 2) ** 2 / (k * (k + n))
        total = total + term
    big = np.maximum(a, FAR)
    step, far = np.ones_like(big), np.ones_like(big)
    for k in range(1, 25):
        step = step * ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k * big)
        far = far + step
    y = np.where(a <= FAR, total * np.exp(-near), far / np.sqrt(2 * np.pi * big))
    y = np.where(np.isinf(a), 0.0, y)
    return np.copysign(y, x) if n % 2 else y


@_in_double
def i0e(x: Array) -> Array:
    """exp(-|x|) I_0(x)."""
    return _scaled(0, x)


@_in_double
def i1e(x: Array) -> Array:
    """exp(-|x|) I_1(x)."""
    return _scaled(1, x)


@_in_double
def i0(x: Array) -> Array:
    """I_0(x), which grows as exp(|x|) / sqrt(2 pi |x|)."""
    return np.where(np.isinf(x), np.inf, _scaled(0, x) * np.exp(np.abs(x)))


@_in_double
def i1(x: Array) -> Array:
    """I_1(x), the derivative of I_0."""
    return np.where(np.isinf(x), x, _scaled(1, x) * np.exp(np.abs(x)))


@_in_double
def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x), which falls as 1 / (x sqrt(pi))."""
    a = np.abs(x)
    mid, big = np.clip(a, 0.4, 4.0), np.maximum(a, 4.0)
    r = 1 / big**2
    far = (0.5641895835477563 - r * _polynomial(P, r) / _polynomial(Q, r)) / big
    y = np.where(a <= 4, _polynomial(C, mid) / _polynomial(D, mid), far)
    y = np.where(a <= 0.46875, np.exp(np.minimum(a, 1.0) ** 2) * (1 - erf(a)), y)
    return np.where(np.isnan(x), x, np.where(x < 0, 2 * np.exp(x * x) - y, y))


@_in_double
def gammainc(a: Array, x: Array) -> Array:
    """P(a, x) = 1 / Gamma(a) times the integral of t^(a-1) exp(-t) from 0 to x."""
    return _incomplete(a, x, True)


@_in_double
def gammaincc(a: Array, x: Array) -> Array:
    """Q(a, x) = 1 - P(a, x), with all its digits where it is small."""
    return _incomplete(a, x, False)


@_in_double
def gammainc_slope(a: Array, x: Array) -> Array:
    """dP(a, x)/da: 0 at x = 0, and far above a, where the density is 0 to rounding and the series of `gamma_slope` overflows."""
    p = np.exp((a - 1) * np.log(x) - x - lgamma(a))
    return np.where((a > 0) & ((x == 0) | (x > a) & (p < 1e-290)), 0.0, -p * gamma_slope(x, a))


def _incomplete(a: Array, x: Array, lower: bool) -> Array:
    a, x = np.broadcast_arrays(a, x)
    proper = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    inner_a, inner_x = np.where(proper, a, 1.0), np.where(proper, x, 1.0)
    near = inner_x < inner_a + 1
    size = np.exp(inner_a * np.log(inner_x) - inner_x - lgamma(inner_a))
    p = size * _series(inner_a, np.where(near, inner_x, 0.5 * inner_a))
    q = size * _fraction(inner_a, np.where(near, inner_a + 1, inner_x))
    y = np.where(near, p, 1 - q) if lower else np.where(near, 1 - p, q)
    whole, none = (1.0, 0.0) if lower else (0.0, 1.0)
    edge = np.where((a == 0) & (x > 0) | np.isinf(x), whole, np.nan)
    edge = np.where((x == 0) & (a > 0) | np.isinf(a) & np.isfinite(x), none, edge)
    bad = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x) | (a == 0) & (x == 0) | np.isinf(a) & np.isinf(x)
    return np.where(proper, y, np.where(bad, np.nan, edge))


def _series(a: Array, x: Array) -> Array:
    """The sum over k >= 0 of x^k / (a (a + 1) ... (a + k))."""
    term = 1 / a
    total, k = term, 0
    while k < ENOUGH and (np.abs(term) > 1e-17 * np.abs(total)).any():
        k += 1
        term = term * x / (a + k)
        total = total + term
    return total


def _fraction(a: Array, x: Array) -> Array:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), by Lentz's method."""
    tiny = 1e-300
    b = x + 1 - a
    d = 1 / np.where(b == 0, tiny, b)
    c, y, k, change = np.full_like(b, 1 / tiny), d, 0, np.full_like(b, 2.0)
    while k < ENOUGH and (np.abs(change - 1) > 1e-16).any():
        k += 1
        an, b = -k * (k - a), b + 2
        d, c = an * d + b, b + an / c
        d, c = 1 / np.where(d == 0, tiny, d), np.where(c == 0, tiny, c)
        change = np.where(np.abs(change - 1) > 1e-16, d * c, 1.0)
        y = y * change
    return y
