"""Modified Bessel functions of the first kind, the scaled complement of the error function, incomplete gamma functions; float64.

Sources: NIST Digital Library of Mathematical Functions, 10.25.2 and 10.40.1 (Bessel), 7.10 (erfc), 8.7.1 and 8.9.2 (gamma).
"""

import math
from functools import cache

import numpy as np

from badak.kernels.reference._arrays import Array
from badak.kernels.reference.error_function import C, D, _polynomial, erf
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


_ANGLES = (np.arange(40) + 0.5) * np.pi / 80  # of the trapezoidal rule on a circle, whose other quarters are alike
_SINES = np.sin(_ANGLES)
_LOGS = ((-1.0) ** np.arange(1, 41) / np.arange(1, 41)) @ np.cos(2 * np.outer(np.arange(1, 41), _ANGLES))
_OSCILLATES_FAR = 25.0
EULER = 0.57721566490153286


def _oscillating(x: Array) -> tuple[Array, Array, Array, Array]:
    """J_0, J_1, Y_0, Y_1 of x >= 0: below 25 the mean of cos(x sin t) and its like over a circle, above an asymptotic series.

    Y_0 = 2 / pi (ln(x / 2) + gamma) J_0 - 4 / pi sum over k of (-1)^k J_2k / k, in which J_2k is the mean of
    cos(x sin t) cos(2 k t);   Y_1 = -Y_0'.   Sources: DLMF 10.9.1, 10.8.3 (in the form of Neumann's series), 10.17.3 to 10.17.4.
    """
    near, far = np.minimum(x, _OSCILLATES_FAR), np.maximum(x, _OSCILLATES_FAR)
    turned = near[..., None] * _SINES
    cosines, sines = np.cos(turned), np.sin(turned) * _SINES
    j0, j1 = cosines.mean(-1), sines.mean(-1)
    safe = np.where(near == 0, 1.0, near)
    log = np.log(safe / 2) + EULER
    y0 = 2 / np.pi * (log * j0 - 2 * (cosines * _LOGS).mean(-1))
    y1 = 2 / np.pi * (log * j1 - j0 / safe - 2 * (sines * _LOGS).mean(-1))
    phase_cos, phase_sin = (np.cos(far) + np.sin(far)) / np.sqrt(2), (np.sin(far) - np.cos(far)) / np.sqrt(2)
    found = []
    for n, close, other, cosine, sine in ((0, j0, y0, phase_cos, phase_sin), (1, j1, y1, phase_sin, -phase_cos)):
        p, q = _hankel(n, far)
        root = np.sqrt(2 / (np.pi * far))
        found.append((np.where(x < _OSCILLATES_FAR, close, root * (p * cosine - q * sine)),
                      np.where(x < _OSCILLATES_FAR, other, root * (p * sine + q * cosine))))  # fmt: skip
    return found[0][0], found[1][0], found[0][1], found[1][1]


def _hankel(n: float, x: Array) -> tuple[Array, Array]:
    """The even and the odd part of the asymptotic series, with their signs."""
    term, p, q = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    for k in range(1, 26):
        term = term * (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
        sign = 1 if k % 4 < 2 else -1
        p, q = (p, q + sign * term) if k % 2 else (p + sign * term, q)
    return p, q


@_in_double
def j0(x: Array) -> Array:
    """J_0(x), 0 far out."""
    return np.where(np.isinf(x), 0.0, _oscillating(np.abs(x))[0])


@_in_double
def j1(x: Array) -> Array:
    """J_1(x), 0 far out."""
    return np.where(np.isinf(x), 0.0, np.copysign(1.0, x) * _oscillating(np.abs(x))[1])


@_in_double
def y0(x: Array) -> Array:
    """Y_0(x): infinite at 0, NaN below."""
    return _of_positive(x, _oscillating(np.abs(x))[2])


@_in_double
def y1(x: Array) -> Array:
    """Y_1(x): infinite at 0, NaN below."""
    return _of_positive(x, _oscillating(np.abs(x))[3])


def _of_positive(x: Array, y: Array) -> Array:
    return np.where(np.isinf(x), 0.0, np.where(x == 0, -np.inf, np.where(x < 0, np.nan, y)))


_TURN = np.exp(1j * np.pi / 6)
_FALLS, _WAVES_FAR = 1.0, -9.0


@cache
def _ray() -> tuple[Array, Array]:
    """Places and widths of Gauss and Legendre's quadrature on [0, 8]: of the Jacobi matrix (Golub and Welsch 1969)."""
    k = np.arange(1, 120)
    places, vectors = np.linalg.eigh(np.diag(k / np.sqrt(4.0 * k * k - 1), 1), UPLO="U")
    return 4.0 * (places + 1), 8.0 * vectors[0] ** 2


def _airy(x: Array, slope: bool) -> Array:
    """Ai(x), or Ai'(x). 1 / pi Re of the integral of exp(i (t^3 / 3 + x t)) along t = s exp(i pi / 6), s > 0, for x in [-9, 1];
    above that with what falls taken out, along a line through the saddle; below by an asymptotic series.

    Sources: DLMF 9.5.1, 9.5.4, 9.7.9, 9.7.10.
    """
    ray, widths = _ray()
    mid = np.clip(x, _WAVES_FAR, _FALLS)[..., None]
    t = ray * _TURN
    along = np.exp(-(ray**3) / 3 + 1j * mid * t) * _TURN * (1j * t if slope else 1.0)
    middle = (along.real @ widths) / np.pi
    big = np.maximum(x, _FALLS)[..., None]
    root = np.sqrt(big)
    line = ray / np.maximum(1.0, big**0.25)  # t = i sqrt(x) + s: i (t^3 / 3 + x t) = -2/3 x^1.5 - sqrt(x) s^2 + i s^3 / 3
    waves = np.exp(-root * line**2 + 1j * line**3 / 3) * (1j * (1j * root + line) if slope else 1.0)
    high = (waves.real @ widths) / np.maximum(1.0, big**0.25)[..., 0] / np.pi * np.exp(-2 / 3 * big[..., 0] * root[..., 0])
    z = np.maximum(-x, -_WAVES_FAR)
    zeta = 2 / 3 * z**1.5
    p, q = _airy_series(zeta, slope)
    turned = zeta - np.pi / 4
    if slope:
        low = z**0.25 / np.sqrt(np.pi) * (np.sin(turned) * p - np.cos(turned) * q)
    else:
        low = (np.cos(turned) * p + np.sin(turned) * q) / (np.sqrt(np.pi) * z**0.25)
    return np.where(x > _FALLS, high, np.where(x < _WAVES_FAR, low, middle))


def _airy_series(zeta: Array, slope: bool) -> tuple[Array, Array]:
    """The even and the odd terms of DLMF 9.7.9 or 9.7.10, with their signs."""
    term, p, q = np.ones_like(zeta), np.ones_like(zeta), np.zeros_like(zeta)
    for k in range(1, 34):
        term = term * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / ((2 * k - 1) * 216 * k * zeta)
        value = term * (6 * k + 1) / (1 - 6 * k) if slope else term
        sign = 1 if k % 4 < 2 else -1
        p, q = (p, q + sign * value) if k % 2 else (p + sign * value, q)
    return p, q


@_in_double
def airy_ai(x: Array) -> Array:
    """Ai(x), 0 far out on both sides."""
    return np.where(np.isinf(x), 0.0, _airy(np.where(np.isinf(x), 0.0, x), False))


@_in_double
def airy_ai_slope(x: Array) -> Array:
    """Ai'(x)."""
    return _airy(x, True)


def _recurrence(kind: str, x: Array, n: int) -> tuple[Array, Array]:
    """(p_n, p_n') of a family of orthogonal polynomials, by p_k+1 = ((a x + b) p_k - c p_k-1) / d. Source: DLMF 18.9."""
    one, zero = np.ones_like(x), np.zeros_like(x)
    first = {"chebyshev_v": (2.0, -1.0), "chebyshev_w": (2.0, 1.0), "chebyshev_u": (2.0, 0.0), "hermite_h": (2.0, 0.0),
             "laguerre": (-1.0, 1.0)}.get(kind, (1.0, 0.0))  # fmt: skip
    p, slope, before, slope_before = first[0] * x + first[1], first[0] * one, one, zero
    if n < 1:
        return (one, zero) if n == 0 else (zero, zero)
    for k in range(1, n):
        a, b, c, d = {"hermite_h": (2, 0, 2 * k, 1), "hermite_he": (1, 0, k, 1), "laguerre": (-1, 2 * k + 1, k, k + 1),
                      "legendre": (2 * k + 1, 0, k, k + 1)}.get(kind, (2, 0, 1, 1))  # fmt: skip
        step = a * x + b
        slope, slope_before = (a * p + step * slope - c * slope_before) / d, slope
        p, before = (step * p - c * before) / d, p
    return p, slope


def polynomial(kind: str, x: Array, n: Array, slope: bool = False) -> Array:
    """p_n(x) of a family, or its slope; the degree is cut to an integer, and below 0 the value is 0."""
    x, n = np.broadcast_arrays(x, n)
    y = np.zeros(x.shape, np.float64)
    shifted = kind.startswith("shifted_")
    for degree in np.unique(np.trunc(n)):
        here = np.trunc(n) == degree
        at = x[here].astype(np.float64)
        y[here] = _recurrence(kind.removeprefix("shifted_"), 2 * at - 1 if shifted else at, int(degree))[slope]
    return (2 * y if slope and shifted else y).astype(x.dtype)


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
