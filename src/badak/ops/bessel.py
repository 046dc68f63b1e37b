"""Bessel functions, the scaled complement of the error function, incomplete gamma functions."""

from functools import partial
from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError
from badak.kernels import elementary
from badak.kernels.reference import bessel
from badak.ops._broadcast import quiet, summed
from badak.ops.op import NotRecordable
from badak.ops.pointwise import Pointwise, Samples, pointwise
from badak.ops.special import Lgamma, Polygamma

TWO_OVER_ROOT_PI = 1.1283791670955126
TERMS = 100_000  # of a series, at most
NEAR_AND_FAR = (0.0, -0.0, 1e-20, 0.3, -2.0, 5.0, -20.0, 29.9, 30.1, 60.0, np.nan)


def without_zero(x: Any) -> Any:
    """x, 1 where it is 0, so that what stands there has slopes that are numbers."""
    return np.where(x == 0, x.dtype.type(1), x)


def _i1_slope(dy: Any, x: Any, y: Any) -> Any:
    return dy * np.where(x == 0, x.dtype.type(0.5), I0.of(x) - y / without_zero(x))


def _i1e_slope(dy: Any, x: Any, y: Any) -> Any:
    slope = I0e.of(x) - y * (np.sign(x) + x.dtype.type(1) / without_zero(x))
    return dy * np.where(x == 0, x.dtype.type(0.5), slope)


I0: type[Pointwise] = pointwise(
    "I0", "y = I_0(x);   dx = dy I_1(x).", bessel.i0, lambda dy, x: dy * I1.of(x), public="i0", special="i0 modified_bessel_i0",
    name="i0", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), slack=4),
)  # fmt: skip
I0e: type[Pointwise] = pointwise(
    "I0e", "y = exp(-abs(x)) I_0(x);   dx = dy (exp(-abs(x)) I_1(x) - sign(x) y).", bessel.i0e,
    lambda dy, x, y: dy * (I1e.of(x) - np.sign(x) * y),
    special="i0e", name="i0e", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=4),
)  # fmt: skip
I1: type[Pointwise] = pointwise(  # PyTorch's slope of NaN is 0.5
    "I1", "y = I_1(x);   dx = dy (I_0(x) - y / x), dy / 2 at 0.", bessel.i1, _i1_slope, special="i1 modified_bessel_i1",
    name="i1", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=4),
)  # fmt: skip
I1e: type[Pointwise] = pointwise(  # its slope is a difference
    "I1e", "y = exp(-abs(x)) I_1(x);   dx = dy (exp(-abs(x)) I_0(x) - y (sign(x) + 1 / x)), dy / 2 at 0.", bessel.i1e, _i1e_slope,
    special="i1e", name="i1e", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=256),
)  # fmt: skip
Erfcx = pointwise(
    "Erfcx", "y = exp(x^2) erfc(x);   dx = dy (2 x y - 2 / sqrt(pi)).", bessel.erfcx,
    lambda dy, x, y: dy * (x * y * 2 - TWO_OVER_ROOT_PI),
    special="erfcx", laid_out=False, samples=Samples(extremes=(NEAR_AND_FAR,), extremes_backward=False, slack=16),
)  # fmt: skip


def _spherical_j0(x: np.ndarray) -> np.ndarray:
    """sin(x) / x, 1 at 0, 0 far out."""
    return np.where(np.isinf(x), x.dtype.type(0), np.sin(x) / without_zero(x) + (x == 0))


SphericalJ0 = pointwise(
    "SphericalJ0", "y = sin(x) / x, 1 at 0;   dx = dy (cos(x) - y) / x, 0 at 0.", quiet(_spherical_j0),
    lambda dy, x, y: dy * np.where(np.isinf(x), 0, (np.cos(x) - y) / without_zero(x)),
    special="spherical_bessel_j0", name="spherical_bessel_j0",
    samples=Samples(extremes=((0.0, -0.0, 1e-20, 0.3, -2.0, 50.0, np.inf, -np.inf, np.nan),), extremes_backward=False, slack=16,
                    slope=lambda torch, x: torch.where(x == 0, 0, (torch.cos(x) - torch.sin(x) / x) / x)),
)  # fmt: skip


def _second_kind(n: int, scaled: bool, x: Any) -> np.ndarray:
    """K_n(x) = integral over t > 0 of exp(-x cosh(t)) cosh(n t), times exp(x) where scaled, in float64.

    By the trapezoidal rule, which is exact to rounding below 25; above, by an asymptotic series.
    Source: NIST Digital Library of Mathematical Functions, 10.32.9 and 10.40.2.
    """
    a, step = np.where(x > 0, x, 1).astype(np.float64), 0.14
    near, far = np.minimum(a, 25), np.maximum(a, 25)
    total: Any = np.full(a.shape, 0.5)
    ratio: Any = 1.0
    series: Any = 0.0
    for t in np.arange(step, 1 + elementary.log(1500) - elementary.log(near.min(initial=25)), step):
        falling = elementary.exp(-2 * (np.sqrt(near) * elementary.sinh(t / 2)) ** 2)
        total = total + np.where(falling > 0, falling * elementary.cosh(n * t), 0)
    for k in range(24):
        series, ratio = series + ratio, ratio * (4 * n * n - (2 * k + 1) ** 2) / (8 * (k + 1) * far)
    y = np.where(a < 25, total * step, series * np.sqrt(np.pi / 2 / far)) * (1 if scaled else elementary.exp(-a))
    return np.where(x > 0, y, np.where(x == 0, np.inf, np.nan)).astype(x.dtype)


_ABOVE = ((0.0, 1e-20, 0.3, -2.0, 24.9, 25.1, 80.0, np.inf, np.nan),)
K0: type[Pointwise] = pointwise(
    "K0", "y = K_0(x);   dx = -dy K_1(x).", quiet(partial(_second_kind, 0, False)), lambda dy, x: -dy * K1.of(x),
    special="modified_bessel_k0", name="modified_bessel_k0",
    samples=Samples((0.1, 40.0), _ABOVE, slack=16, slope=lambda torch, x: -torch.special.modified_bessel_k1(x)),
)  # fmt: skip
K1: type[Pointwise] = pointwise(
    "K1", "y = K_1(x);   dx = -dy (K_0(x) + y / x).", quiet(partial(_second_kind, 1, False)),
    lambda dy, x, y: -dy * (K0.of(x) + y / x),
    special="modified_bessel_k1", name="modified_bessel_k1",
    samples=Samples((0.1, 40.0), _ABOVE, slack=16, slope=lambda torch, x: (
        -torch.special.modified_bessel_k0(x) - torch.special.modified_bessel_k1(x) / x)),
)  # fmt: skip
K0e: type[Pointwise] = pointwise(
    "K0e", "y = exp(x) K_0(x);   dx = dy (y - exp(x) K_1(x)).", quiet(partial(_second_kind, 0, True)),
    lambda dy, x, y: dy * (y - K1e.of(x)),
    special="scaled_modified_bessel_k0", name="scaled_modified_bessel_k0",
    samples=Samples((0.1, 40.0), _ABOVE, extremes_backward=False, slack=256, slope=lambda torch, x: (  # a difference
        torch.special.scaled_modified_bessel_k0(x) - torch.special.scaled_modified_bessel_k1(x))),
)  # fmt: skip
K1e: type[Pointwise] = pointwise(
    "K1e", "y = exp(x) K_1(x);   dx = dy (y - y / x - exp(x) K_0(x)).", quiet(partial(_second_kind, 1, True)),
    lambda dy, x, y: dy * (y - y / x - K0e.of(x)),
    special="scaled_modified_bessel_k1", name="scaled_modified_bessel_k1",
    samples=Samples((0.1, 40.0), _ABOVE, extremes_backward=False, slack=256, slope=lambda torch, x: (
        torch.special.scaled_modified_bessel_k1(x) * (1 - 1 / x) - torch.special.scaled_modified_bessel_k0(x))),
)  # fmt: skip


def density(a: Any, b: Any) -> Any:
    """b^(a - 1) exp(-b) / Gamma(a)."""
    return elementary.exp((a - 1) * elementary.log(b) - b - Lgamma.of(a))


def _gammainc_twice(saved: Any, dy: Any) -> tuple:
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


def _gammainc_slope(a: Any, x: Any) -> Any:
    """dP/da in float64: the terms side by side along a last axis, as many as count: they fall fast from k = x on."""
    most = max(1.0, np.max(x.values, initial=0, where=np.isfinite(x.values)))
    count = int(most + 12 * np.sqrt(most) + 40)
    if count > TERMS:
        raise NotRecordable(f"a series of {count} terms")
    b, x = a.astype(np.float64)[..., None] + np.arange(1, count + 1), x.astype(np.float64)[..., None]
    log = elementary.log(x)
    terms = elementary.exp((b - 1) * log - x - Lgamma.of(b))
    return (terms * (log - Polygamma.of(b, n=0))).sum(axis=-1).astype(a.dtype)


GammaInc = pointwise(
    "GammaInc", "y = P(a, x), x = b;   dx = dy x^(a-1) exp(-x) / Gamma(a);   da = dy times how P moves with a (`gammainc_slope`).",
    bessel.gammainc,
    lambda dy, a, b: dy * bessel.gammainc_slope(a, b),
    lambda dy, a, b: dy * density(a, b),
    public="igamma", special="gammainc", takes="real", in_place="method", name="igamma",
    double_backward=staticmethod(_gammainc_twice),
)  # fmt: skip
GammaIncC = pointwise(
    "GammaIncC", "y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign.", bessel.gammaincc,
    lambda dy, a, b: -dy * bessel.gammainc_slope(a, b),
    lambda dy, a, b: -dy * density(a, b),
    public="igammac", special="gammaincc", takes="real", in_place="method", name="igammac",
    double_backward=staticmethod(lambda saved, dy: _gammainc_twice(saved, -dy)),
)  # fmt: skip

J0: type[Pointwise] = pointwise(
    "J0", "y = J_0(x);   dx = -dy J_1(x).", bessel.j0, lambda dy, x: -dy * J1.of(x),
    special="bessel_j0", name="bessel_j0",
)  # fmt: skip
J1: type[Pointwise] = pointwise(
    "J1", "y = J_1(x);   dx = dy (J_0(x) - y / x), dy / 2 at 0.", bessel.j1,
    lambda dy, x, y: dy * np.where(x == 0, x.dtype.type(0.5), J0.of(x) - y / without_zero(x)),
    special="bessel_j1", name="bessel_j1",
)  # fmt: skip
Y0: type[Pointwise] = pointwise(
    "Y0", "y = Y_0(x);   dx = -dy Y_1(x).", bessel.y0, lambda dy, x: -dy * Y1.of(x),
    portable="", special="bessel_y0", name="bessel_y0",
)  # fmt: skip
Y1: type[Pointwise] = pointwise(
    "Y1", "y = Y_1(x);   dx = dy (Y_0(x) - y / x).", bessel.y1, lambda dy, x, y: dy * (Y0.of(x) - y / x),
    portable="", special="bessel_y1", name="bessel_y1",
)  # fmt: skip
AiryAi: type[Pointwise] = pointwise(
    "AiryAi", "y = Ai(x);   dx = dy Ai'(x).", bessel.airy_ai, lambda dy, x: dy * AirySlope.of(x),
    portable="", special="airy_ai", name="airy_ai",
)  # fmt: skip
AirySlope: type[Pointwise] = pointwise(
    "AirySlope", "y = Ai'(x);   dx = dy x Ai(x).", bessel.airy_ai_slope, lambda dy, x: dy * x * AiryAi.of(x),
    portable="", name="airy_ai_slope",
)  # fmt: skip


def _of_degree(dy: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    raise NotSupportedError("the degree of a polynomial is an integer: it has no gradient", "n.detach()")


def _family(kind: str, formula: str) -> type[Pointwise]:
    """The polynomials p_n(x) of a family, x = a and n = b."""
    names = {"hermite_h": "hermite_polynomial_h", "hermite_he": "hermite_polynomial_he", "laguerre": "laguerre_polynomial_l",
             "legendre": "legendre_polynomial_p"}  # fmt: skip
    name = names.get(kind) or kind.replace("chebyshev_", "chebyshev_polynomial_")
    return pointwise(
        "".join(part.capitalize() for part in kind.split("_")), formula, quiet(partial(bessel.polynomial, kind)),
        lambda dy, a, b: dy * bessel.polynomial(kind, a, b, True), _of_degree,
        special=name, takes="real", name=name, second="n",
    )  # fmt: skip


ChebyshevT = _family("chebyshev_t", "y = T_n(x), n = b: cos(n t) of cos t;   dx = dy T_n'(x).")
ChebyshevU = _family("chebyshev_u", "y = U_n(x), n = b: sin((n + 1) t) / sin t of cos t;   dx = dy U_n'(x).")
ChebyshevV = _family("chebyshev_v", "y = V_n(x), n = b: cos((n + 1/2) t) / cos(t / 2) of cos t;   dx = dy V_n'(x).")
ChebyshevW = _family("chebyshev_w", "y = W_n(x), n = b: sin((n + 1/2) t) / sin(t / 2) of cos t;   dx = dy W_n'(x).")
ShiftedChebyshevT = _family("shifted_chebyshev_t", "y = T_n(2 x - 1), n = b;   dx = 2 dy T_n'(2 x - 1).")
ShiftedChebyshevU = _family("shifted_chebyshev_u", "y = U_n(2 x - 1), n = b;   dx = 2 dy U_n'(2 x - 1).")
ShiftedChebyshevV = _family("shifted_chebyshev_v", "y = V_n(2 x - 1), n = b;   dx = 2 dy V_n'(2 x - 1).")
ShiftedChebyshevW = _family("shifted_chebyshev_w", "y = W_n(2 x - 1), n = b;   dx = 2 dy W_n'(2 x - 1).")
HermiteH = _family("hermite_h", "y = H_n(x), n = b, the physicists' polynomials;   dx = dy H_n'(x).")
HermiteHe = _family("hermite_he", "y = He_n(x), n = b, the probabilists' polynomials;   dx = dy He_n'(x).")
Laguerre = _family("laguerre", "y = L_n(x), n = b;   dx = dy L_n'(x).")
Legendre = _family("legendre", "y = P_n(x), n = b;   dx = dy P_n'(x).")
