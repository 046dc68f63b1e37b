"""Functions of mathematics that NumPy does not have, in float64: error functions, gamma functions, Hurwitz' zeta function.

Sources: W. J. Cody 1969, "Rational Chebyshev approximations for the error function"; M. J. Wichura 1988, "Algorithm AS 241: the
percentage points of the normal distribution"; NIST Digital Library of Mathematical Functions, 5.7.3, 5.11, 5.15, 25.11.
"""

import math
from collections.abc import Callable
from functools import wraps

import numpy as np

from badak.kernels.reference._arrays import Array, elementwise, in_blocks
from badak.kernels.reference.error_function import C, D, _polynomial, erf

# x / y of the normal distribution's quantiles, highest power first: where |p - 1/2| <= 0.425, and in its tails
MIDDLE = (
    (2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
     133.14166789178438, 3.3871328727963665),
    (5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
     42.31333070160091, 1.0),
)  # fmt: skip
TAIL = (
    (0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045, 5.769497221460691,
     4.630337846156546, 1.4234371107496835),
    (1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
     1.6763848301838038, 2.053191626637759, 1.0),
)  # fmt: skip
FAR_TAIL = (
    (2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
     1.7848265399172913, 5.463784911164114, 6.657904643501103),
    (2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133, 0.014875361290850615,
     0.1369298809227358, 0.599832206555888, 1.0),
)  # fmt: skip
# erfc(x) beyond 4, as exp(-x^2) / x (1 / sqrt(pi) - r P(r) / Q(r)) with r = 1 / x^2
P = (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2,
     6.58749161529837803e-4)  # fmt: skip
Q = (1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3)
# B2, B4, ..., B20
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
EULER = 0.5772156649015329
FAR_BELOW = 10_000.0  # the zeta function of what lies farther below 0 would take too many terms: NaN
FAR = 10.0  # from here on the asymptotic series are exact to rounding


def _in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function`, computed in float64 and rounded to the type of its last array."""

    @elementwise
    @in_blocks
    @wraps(function)
    def rounded(*x: Array) -> Array:
        return function(*[np.asarray(each, np.float64) for each in x]).astype(x[-1].dtype)

    return rounded


@_in_double
def erfc(x: Array) -> Array:
    """1 - erf(x), with all its digits where it is small."""
    a = np.minimum(np.abs(x), 30.0)
    head = np.trunc(a * 16) / 16  # exp(-a^2) as a product of two, the first of which is exact
    shrink = np.exp(-head * head) * np.exp(-(a - head) * (a + head))
    near = np.maximum(a, 0.4)
    r = 1 / np.maximum(a, 4.0) ** 2
    far = (0.5641895835477563 - r * _polynomial(P, r) / _polynomial(Q, r)) / np.maximum(a, 4.0)
    tail = shrink * np.where(a <= 4, _polynomial(C, np.minimum(near, 4.0)) / _polynomial(D, np.minimum(near, 4.0)), far)
    y = np.where(x < 0, 2 - tail, tail)
    return np.where(np.isnan(x), x, np.where(a <= 0.46875, 1 - erf(x), y))


@_in_double
def erfinv(y: Array) -> Array:
    """x with erf(x) = y; infinite at -1 and 1, NaN beyond."""
    a = np.abs(y)
    r = 0.180625 - y * y / 4
    middle = y / 2 * _polynomial(MIDDLE[0], r) / _polynomial(MIDDLE[1], r)
    t = np.sqrt(-np.log((1 - a) / 2))
    near, far = np.minimum(t, 5.0) - 1.6, np.maximum(t, 5.0) - 5.0
    tail = np.where(t <= 5, _ratio(TAIL, near), _ratio(FAR_TAIL, np.minimum(far, 30.0)))
    x = np.where(a <= 0.85, middle, np.copysign(tail, y)) * 0.7071067811865476
    return np.where(a == 1, np.copysign(np.inf, y), x)


def _ratio(pair: tuple, x: Array) -> Array:
    return _polynomial(pair[0], x) / _polynomial(pair[1], x)


@_in_double
def lgamma(x: Array) -> Array:
    """ln |Gamma(x)|; infinite at 0, -1, -2, ..."""
    low = x < 0.5
    z = np.where(low, 1 - x, x)  # Gamma(x) Gamma(1 - x) = pi / sin(pi x)
    up = _log_gamma(z)
    mirrored = np.log(np.pi / np.abs(np.sin(np.pi * (x - np.round(x))))) - up  # exactly 0 at integers
    return np.where(np.isinf(x), np.inf, np.where(low, mirrored, up))


def _log_gamma(x: Array) -> Array:
    """ln Gamma(x) for x >= 0.5: from the power series at 2, moved there, or Stirling's series."""
    near = np.minimum(x, FAR)
    steps = np.where(near < 1.5, -1.0, np.floor(near - 1.5))  # how far 1.5 <= z < 2.5 lies below
    z = near - steps
    w = z - 2
    series = w * _polynomial(_AT_TWO, w)
    product = np.ones_like(z)
    for k in range(int(FAR)):
        product *= np.where(k < steps, z + k, 1.0)
    series = series + np.log(product)
    series = np.where(steps < 0, series - np.log1p(x - 1), series)
    big = np.maximum(x, FAR)
    rest = sum(b / (2 * n * (2 * n - 1) * big ** (2 * n - 1)) for n, b in enumerate(BERNOULLI, 1))
    stirling = (big - 0.5) * np.log(big) - big + 0.9189385332046727 + rest
    return np.where(x < FAR, series, stirling)


@_in_double
def digamma(x: Array) -> Array:
    """d/dx ln Gamma(x); NaN at -1, -2, ..., infinite at 0."""
    low = x < 0.5
    z = np.where(low, 1 - x, x)
    moved, up = z, np.zeros_like(z)
    for _ in range(int(FAR)):
        up = up - np.where(moved < FAR, 1 / moved, 0.0)
        moved = np.where(moved < FAR, moved + 1, moved)
    rest = sum(b / (2 * n * moved ** (2 * n)) for n, b in enumerate(BERNOULLI, 1))
    up = up + np.log(moved) - 0.5 / moved - rest
    y = np.where(low, up - np.pi / np.tan(np.pi * (x - np.round(x))), up)
    y = np.where((x < 0) & (x == np.floor(x)), np.nan, y)
    return np.where(x == 0, -np.copysign(np.inf, x), np.where(x == np.inf, x, y))


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x); for n = 1 also where x < 0."""
    if n == 0:
        return digamma(x)
    if n == 1:
        return _trigamma(x)
    return (-1) ** (n + 1) * float(math.factorial(n)) * zeta(np.float64(n + 1), x)


@_in_double
def _trigamma(x: Array) -> Array:
    low = x < 0.5
    up = _zeta(2.0, np.where(low, 1 - x, x))
    return np.where(low, (np.pi / np.sin(np.pi * x)) ** 2 - up, up)  # trigamma(x) + trigamma(1 - x) = (pi / sin(pi x))^2


@_in_double
def zeta(s: Array, x: Array) -> Array:
    """Hurwitz' sum over k >= 0 of (x + k)^-s, s > 1; infinite at x = 0, -1, -2, ..., NaN elsewhere below 0 unless s is whole."""
    y = _zeta(s, x)
    below = (x <= 0) & ((x == np.floor(x)) | (s != np.floor(s)))
    y = np.where(below, np.where(x == np.floor(x), np.inf, np.nan), y)
    return np.where(s == 1, np.inf, np.where(s < 1, np.nan, y))


def _zeta(s, x: Array) -> Array:
    """Euler and Maclaurin: the first terms as they are, an integral for the others, and what that differs by."""
    total: Array = np.zeros(np.broadcast(s, x).shape)
    z = np.array(np.broadcast_to(x, total.shape), np.float64)
    z[z < -FAR_BELOW] = np.nan
    while (near := z < FAR).any():
        total = total + np.where(near, z**-s, 0.0)
        z = np.where(near, z + 1, z)
    total = total + z ** (1 - s) / (s - 1) + 0.5 * z**-s
    factor = s * z ** (-s - 1) / 2
    for n, b in enumerate(BERNOULLI, 1):
        total = total + b * factor
        factor = factor * (s + 2 * n - 1) * (s + 2 * n) / ((2 * n + 1) * (2 * n + 2) * z * z)
    return total


# ln Gamma(2 + w) = w ((1 - EULER) + sum over k >= 2 of (-1)^k (zeta(k) - 1) w^(k-1) / k), highest power first
_AT_TWO = tuple(float((-1) ** k * _zeta(float(k), np.array(2.0)) / k) for k in range(32, 1, -1)) + (1 - EULER,)


@_in_double
def gamma_slope(x: Array, a: Array) -> Array:
    """How a draw x of the gamma distribution with concentration a moves with a, its quantile kept: dx/da = -(dP(a, x)/da) / p(x).

    P(a, x) = p(x) sum over k >= 0 of t_k, t_0 = x / a, t_(k+1) = t_k x / (a + k + 1), and so dP/da = p(x) sum of
    t_k (ln x - digamma(a + k + 1)).
    """
    term, total, k = x / a, np.zeros(np.broadcast(x, a).shape), 0
    psi, log_x = digamma(a + 1), np.log(x)
    while (np.abs(term) > 1e-17 * np.maximum(np.abs(total), 1e-300)).any() and k < 100_000:
        total = total + term * (log_x - psi)
        k += 1
        psi = psi + 1 / (a + k)
        term = term * x / (a + k)
    return -total


@_in_double
def beta_slope(x: Array, a: Array, total: Array) -> Array:
    """How a draw x of the Beta distribution with a and b = total - a moves with a, its quantile kept: dx/da = -(dF/da) / f(x).

    Near 0 and 1 the series F = C sum over k of c_k x^k / (a + k), c_k = (1 - b)_k / k!, of x or of 1 - x, is differentiated.
    Between them dF/da, the integral of f(t) (ln t - E ln t) over all t on one side of x, is a sum over points that lie
    double exponentially close to x and far from it. On that side of exp(E ln t) the integrand has one sign.
    Source of the substitution: Takahasi and Mori 1974, "Double exponential formulas for numerical integration".
    """
    x, a, total = np.broadcast_arrays(x, a, total)
    result, near = np.empty(x.shape), total * x * (1 - x) < 2.5
    for formula, at in ((_beta_slope_at_0, near & (x <= 0.5)), (_beta_slope_at_1, near & (x > 0.5)), (_beta_slope_between, ~near)):
        if at.any():
            mean = digamma(a[at]) - digamma(total[at])  # E ln t
            result[at] = formula(x[at], a[at], total[at] - a[at], mean)
    return result


def _beta_slope_at_0(x, a, b, mean):
    term, total, squares, k = np.ones(x.shape), 1 / a, 1 / a**2, 0
    while (np.abs(term) > 1e-17 * np.abs(total)).any() and k < 100:
        k += 1
        term = term * (k - b) / k * x
        total, squares = total + term / (a + k), squares + term / (a + k) ** 2
    return -x * np.exp((1 - b) * np.log1p(-x)) * ((np.log(x) - mean) * total - squares)


def _beta_slope_at_1(x, a, b, mean):
    y, term, moved = 1 - x, np.ones(x.shape), np.zeros(x.shape)  # moved: dterm / da
    total, slope, k = 1 / b, np.zeros(x.shape), 0
    while (np.maximum(np.abs(term), np.abs(moved)) > 1e-17 * np.abs(total)).any() and k < 100:
        k += 1
        moved, term = (moved * (k - a) - term) / k * y, term * (k - a) / k * y
        total, slope = total + term / (b + k), slope + moved / (b + k)
    return y * np.exp((1 - a) * np.log(x)) * (slope - mean * total)


def _beta_slope_between(x, a, b, mean):
    below = np.log(x) < mean
    edge, p, q = np.where(below, x, 1 - x), np.where(below, a, b), np.where(below, b, a)
    falling, bent = p - (q - 1) * edge / (1 - edge), (q - 1) * edge / (1 - edge) ** 2
    width = 1 / (np.maximum(falling, 0) + np.sqrt(np.maximum(bent, 0)))  # over which f falls off
    total = np.zeros(x.shape)
    for y in np.arange(-3.4, 4.2, 0.1):
        w = width * np.exp(y - np.exp(-y))  # t = edge e^-w, or 1 - edge e^-w
        inside = np.log1p(-edge * np.exp(-w))
        density = np.exp((q - 1) * (inside - np.log1p(-edge)) - p * w)
        total = total + density * (np.where(below, np.log(edge) - w, inside) - mean) * w * (1 + np.exp(-y))
    return np.where(below, -0.1, 0.1) * edge * total
