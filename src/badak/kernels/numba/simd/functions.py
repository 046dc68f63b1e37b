"""exp, log, tanh, sigmoid and the normal distribution: as loops over them that LLVM vectorises, and on registers.

In float32 they are polynomials (measured: 16 exponentials in about 8 ns, against 16 calls of 5 ns each); in float64 the C
library's functions. Each stands twice: as Python (its meaning, and what runs without JIT) and as its float32 body.
The coefficients are least-squares fits, reweighted until the largest relative error was smallest.
"""

import math

import numpy as np

from badak.kernels.numba.codegen.floats import fma, is_float32, pow2, rint, rounded

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.4426950408889634), _f(0.693145751953125), _f(1.42860682030941723e-6)
_LEAST, _MOST = _f(-87.5), _f(89.0)  # below the least the result is 0, above the most it is inf
_ONE, _HALF, _TWO = _f(1), _f(0.5), _f(2)
_EXP = (0.0027628933479, 0.016737560858, 0.083336788434834, 0.3333304021525, 0.99999986824939, 2, 2)  # 2 e^r, |r| <= ln 2 / 2
_LOG = (
    -0.07634505805,
    0.127616035,
    -0.1316019231,
    0.1420175468,
    -0.1662335579,
    0.2000122698,
    -0.2500082109,
    0.3333333171,
)  # (ln(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f < sqrt(2)
_E6, _E5, _E4, _E3, _E2 = (_f(coefficient) for coefficient in _EXP[:5])


def exp(x):
    """e^x. float32: largest error 1.2 units in the last place; 0 below -87; NaN stays NaN."""
    return np.exp(x)


def _exp32(x):
    # e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2; a comparison with NaN is false, so NaN passes.
    x = _LEAST if x < _LEAST else x
    x = _MOST if x > _MOST else x
    n = rint(x * _LOG2_E)
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, x))
    p = fma(r, _E6, _E5)
    p = fma(r, p, _E4)
    p = fma(r, p, _E3)
    p = fma(r, p, _E2)
    p = fma(r, p, _TWO)
    return fma(r, p, _TWO) * pow2(n - _ONE)  # twice the polynomial times 2^(n-1): n reaches 128


@rounded(exp)
def _(x):
    return _exp32 if is_float32(x) else (lambda x: math.exp(x))


def exp_lanes(v, x):
    """e^x of each lane of a register of `Vectors` v: in float32 the polynomial of `exp`, in float64 the C library's function."""
    if v.bytes == 8:
        return v.map("exp", x)
    b, c = v.builder, v.constant
    for limit, beyond in ((_LEAST, "<"), (_MOST, ">")):
        x = b.select(b.fcmp_ordered(beyond, x, c(limit)), c(limit), x)
    n = v.map("rint", b.fmul(x, c(_LOG2_E)))
    r = v.fma(n, c(-_LN2_LOW), v.fma(n, c(-_LN2_HIGH), x))
    p = c(_EXP[0])
    for coefficient in _EXP[1:]:
        p = v.fma(r, p, c(coefficient))
    biased = b.add(b.fptosi(n, v.indices), v.whole(126))
    power = b.bitcast(b.shl(biased, v.whole(23)), v.type)
    return b.fmul(p, power)  # 2^(n-1) times twice the polynomial


def log_lanes(v, x):
    """ln x of each lane, for normal x > 0, NaN for NaN; largest error 1 unit in the last place."""
    if v.bytes == 8:
        return v.map("log", x)
    b, c = v.builder, v.constant
    # x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): n is how often sqrt(1/2)'s bits go into those of x.
    bits = b.sub(b.bitcast(x, v.indices), v.whole(0x3F3504F3))
    n = b.sitofp(b.ashr(bits, v.whole(23)), v.type)
    f = b.bitcast(b.add(b.and_(bits, v.whole(0x7FFFFF)), v.whole(0x3F3504F3)), v.type)
    f = b.fsub(f, c(1))
    p = c(_LOG[0])
    for coefficient in _LOG[1:]:
        p = v.fma(f, p, c(coefficient))
    square = b.fmul(f, f)
    small = v.fma(b.fmul(square, f), p, v.fma(square, c(-0.5), v.fma(n, c(_LN2_LOW), f)))
    return b.select(b.fcmp_unordered("uno", x, x), x, v.fma(n, c(_LN2_HIGH), small))


def sigmoid(x):
    """1 / (1 + e^-x), from e^-|x| so that nothing overflows and small results keep their digits."""
    e = exp(-abs(x))
    return e / (1 + e) if x < 0 else 1 / (1 + e)


@rounded(sigmoid)
def _(x):
    one = _ONE if is_float32(x) else 1.0

    def compiled(x):
        e = exp(-abs(x))
        s = one / (one + e)
        return e * s if x < 0 else s

    return compiled


def tanh(x):
    """(e^x - e^-x) / (e^x + e^-x)."""
    return np.tanh(x)


def _tanh32(x):
    # Two formulas, both computed, one chosen: near 0 the quotient of exponentials would lose digits.
    z = x * x
    p = fma(z, _f(-0.005704979812), _f(0.020639081115))
    p = fma(z, p, _f(-0.053739713307))
    p = fma(z, p, _f(0.133314421782))
    p = fma(z, p, _f(-0.333332819413))
    near = fma(x * z, p, x)
    e = exp(-_TWO * abs(x))
    far = (_ONE - e) / (_ONE + e)
    far = -far if x < 0 else far
    return far if abs(x) > _f(0.625) else near


@rounded(tanh)
def _(x):
    return _tanh32 if is_float32(x) else (lambda x: math.tanh(x))


def expm1(x):
    """e^x - 1, with its digits near 0 too."""
    return np.expm1(x)


def _expm1_32(x):
    # Two formulas, both computed, one chosen: near 0 the difference would lose digits.
    p = fma(x, _f(1 / 362880), _f(1 / 40320))
    p = fma(x, p, _f(1 / 5040))
    p = fma(x, p, _f(1 / 720))
    p = fma(x, p, _f(1 / 120))
    p = fma(x, p, _f(1 / 24))
    p = fma(x, p, _f(1 / 6))
    p = fma(x, p, _HALF)
    near = fma(x * x, p, x)
    return exp(x) - _ONE if abs(x) > _HALF else near


@rounded(expm1)
def _(x):
    return _expm1_32 if is_float32(x) else (lambda x: math.expm1(x))


def softplus(x):
    """ln(1 + e^x)."""
    return np.logaddexp(x, x.dtype.type(0))


def _softplus32(x):
    # max(x, 0) + ln(1 + e), e = e^-|x|: ln(1 + e) = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = e / (2 + e) <= 1/3.
    e = exp(-abs(x))
    s = e / (_TWO + e)
    z = s * s
    p = fma(z, _f(2 / 15), _f(2 / 13))
    p = fma(z, p, _f(2 / 11))
    p = fma(z, p, _f(2 / 9))
    p = fma(z, p, _f(2 / 7))
    p = fma(z, p, _f(2 / 5))
    p = fma(z, p, _f(2 / 3))
    p = fma(z, p, _TWO)
    return fma(s, p, x if x > 0 else _f(0))


@rounded(softplus)
def _(x):
    return _softplus32 if is_float32(x) else (lambda x: (x if x > 0 else 0.0) + math.log1p(math.exp(-abs(x))))


def normal(x):
    """(Phi(x), e^(-x^2 / 2)): the distribution function of the standard normal, and its density times sqrt(2 pi)."""
    return x.dtype.type(0.5 * math.erfc(-x * math.sqrt(0.5))), np.exp(-x * x / 2)


def _normal32(x):
    # Phi(-t) = e^(-t^2/2) q(t) for t >= 0: the smooth q is a polynomial in u = 1 / (1 + 0.3 t), relative error 5e-8.
    t = abs(x)
    t = _f(14) if t > _f(14) else t
    e = exp(-_HALF * t * t)
    u = _ONE / fma(_f(0.3), t, _ONE)
    q = fma(u, _f(0.037060640665), _f(-0.162863104675))
    q = fma(u, q, _f(0.215886983661))
    q = fma(u, q, _f(-0.062231340239))
    q = fma(u, q, _f(0.132947067675))
    q = fma(u, q, _f(0.098632181170))
    q = fma(u, q, _f(0.120950447148))
    q = fma(u, q, _f(0.119617145249))
    tail = e * (u * q)
    return tail if x < 0 else _ONE - tail, e


@rounded(normal)
def _(x):
    if is_float32(x):
        return _normal32
    root_half = math.sqrt(0.5)
    return lambda x: (0.5 * math.erfc(-x * root_half), math.exp(-0.5 * x * x))
