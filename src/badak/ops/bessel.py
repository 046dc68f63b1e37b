"""Modified Bessel functions, the scaled complement of the error function, incomplete gamma functions."""

import numpy as np

from badak.kernels.reference import bessel
from badak.ops._broadcast import summed
from badak.ops.op import NotRecordable
from badak.ops.pointwise import Pointwise, Samples, pointwise
from badak.ops.special import Lgamma, Polygamma

TWO_OVER_ROOT_PI = 1.1283791670955126
TERMS = 100_000  # of a series, at most
NEAR_AND_FAR = (0.0, -0.0, 1e-20, 0.3, -2.0, 5.0, -20.0, 29.9, 30.1, 60.0, np.nan)


def without_zero(x):
    """x, 1 where it is 0, so that what stands there has slopes that are numbers."""
    return np.where(x == 0, x.dtype.type(1), x)


def _i1_slope(dy, x, y):
    return dy * np.where(x == 0, x.dtype.type(0.5), I0.of(x) - y / without_zero(x))


def _i1e_slope(dy, x, y):
    slope = I0e.of(x) - y * (np.sign(x) + x.dtype.type(1) / without_zero(x))
    return dy * np.where(x == 0, x.dtype.type(0.5), slope)


I0: type[Pointwise] = pointwise(
    "I0", "y = I_0(x);   dx = dy I_1(x).", bessel.i0, lambda dy, x: dy * I1.of(x), public="i0", special="i0 modified_bessel_i0",
    op_name="i0", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), slack=4),
)  # fmt: skip
I0e: type[Pointwise] = pointwise(
    "I0e", "y = exp(-abs(x)) I_0(x);   dx = dy (exp(-abs(x)) I_1(x) - sign(x) y).", bessel.i0e,
    lambda dy, x, y: dy * (I1e.of(x) - np.sign(x) * y),
    special="i0e", op_name="i0e", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=4),
)  # fmt: skip
I1: type[Pointwise] = pointwise(  # PyTorch's slope of NaN is 0.5
    "I1", "y = I_1(x);   dx = dy (I_0(x) - y / x), dy / 2 at 0.", bessel.i1, _i1_slope, special="i1 modified_bessel_i1",
    op_name="i1", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=4),
)  # fmt: skip
I1e: type[Pointwise] = pointwise(  # its slope is a difference
    "I1e", "y = exp(-abs(x)) I_1(x);   dx = dy (exp(-abs(x)) I_0(x) - y (sign(x) + 1 / x)), dy / 2 at 0.", bessel.i1e, _i1e_slope,
    special="i1e", op_name="i1e", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=256),
)  # fmt: skip
Erfcx = pointwise(
    "Erfcx", "y = exp(x^2) erfc(x);   dx = dy (2 x y - 2 / sqrt(pi)).", bessel.erfcx,
    lambda dy, x, y: dy * (x * y * 2 - TWO_OVER_ROOT_PI),
    special="erfcx", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=16),
)  # fmt: skip


def density(a, b):
    """b^(a - 1) exp(-b) / Gamma(a)."""
    return np.exp((a - 1) * np.log(b) - b - Lgamma.of(a))


def _gammainc_twice(saved, dy):
    """dy dP/dx and dy dP/da, with P(a, x) = sum over k >= 0 of t_k, t_k = x^(a+k) exp(-x) / Gamma(a + k + 1).

    dP/da = sum of t_k (ln x - digamma(a + k + 1)), 0 at x = 0.
    """
    a, x = saved.a, saved.b
    da = dx = None
    if saved.needs[1]:
        dx = summed(dy * density(a, x), x.shape)
    if saved.needs[0]:
        da = summed(dy * np.where(x == 0, 0, _gammainc_slope(a, without_zero(x))), a.shape)
    return da, dx


def _gammainc_slope(a, x):
    """dP/da in float64: the terms side by side along a last axis, as many as count: they fall fast from k = x on."""
    most = max(1.0, np.max(x.values, initial=0, where=np.isfinite(x.values)))
    count = int(most + 12 * np.sqrt(most) + 40)
    if count > TERMS:
        raise NotRecordable(f"a series of {count} terms")
    b, x = a.astype(np.float64)[..., None] + np.arange(1, count + 1), x.astype(np.float64)[..., None]
    log = np.log(x)
    terms = np.exp((b - 1) * log - x - Lgamma.of(b))
    return (terms * (log - Polygamma.of(b, n=0))).sum(axis=-1).astype(a.dtype)


GammaInc = pointwise(
    "GammaInc", "y = P(a, x), x = b;   dx = dy x^(a-1) exp(-x) / Gamma(a);   da = dy times how P moves with a (`gammainc_slope`).",
    bessel.gammainc,
    lambda dy, a, b: dy * bessel.gammainc_slope(a, b),
    lambda dy, a, b: dy * density(a, b),
    public="igamma", special="gammainc", takes="real", in_place="method", op_name="igamma",
    double_backward=staticmethod(_gammainc_twice),
)  # fmt: skip
GammaIncC = pointwise(
    "GammaIncC", "y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign.", bessel.gammaincc,
    lambda dy, a, b: -dy * bessel.gammainc_slope(a, b),
    lambda dy, a, b: -dy * density(a, b),
    public="igammac", special="gammaincc", takes="real", in_place="method", op_name="igammac",
    double_backward=staticmethod(lambda saved, dy: _gammainc_twice(saved, -dy)),
)  # fmt: skip
