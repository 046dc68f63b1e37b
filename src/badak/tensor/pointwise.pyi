# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Tensor]]
SPECIAL: dict[str, Callable[..., Tensor]]
def real(name: str, x: Any) -> Tensor:
    """x as floats that are real numbers."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = tanh(x);   dx = dy (1 - y^2)."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 / (1 + exp(-x));   dx = dy y (1 - y)."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 / (1 + exp(-x));   dx = dy y (1 - y)."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(x);   dx = dy y."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 2^x;   dx = dy y ln 2."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(x) - 1, exact near 0;   dx = dy (y + 1)."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log(x);   dx = dy / x."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log(1 + x), exact near 0;   dx = dy / (1 + x)."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log2 x;   dx = dy / (x ln 2)."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log10 x;   dx = dy / (x ln 10)."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sqrt(x);   dx = dy / (2 y)."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 / sqrt(x);   dx = -dy y^3 / 2."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x^2;   dx = dy 2 x."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 / x;   dx = -dy y^2."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = erf(x) = 2/sqrt(pi) int_0^x exp(-t^2) dt;   dx = dy 2/sqrt(pi) exp(-x^2)."""
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x)."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x)."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = -1, 0, 1 as x is negative, zero, positive, 0 where it is not a number;   dx = 0."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = the largest integer <= x;   dx = 0."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = the smallest integer >= x;   dx = 0."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x without its fraction;   dx = 0."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x without its fraction;   dx = 0."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = x - trunc(x);   dx = dy."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = 1 - erf(x), exact where it is small;   dx = -dy 2/sqrt(pi) exp(-x^2)."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y with erf(y) = x;   dx = dy sqrt(pi)/2 exp(y^2)."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log(abs(Gamma(x)));   dx = dy digamma(x)."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = log(abs(Gamma(x)));   dx = dy digamma(x)."""
def xlogy(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = a log(b), 0 where a = 0, NaN where b is;   da = dy log(b), 0 where a = 0 and b <= 0;   db = dy a / b."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = -x log(x), 0 at 0, -inf below;   dx = -dy (log(x) + 1)."""
def xlog1py(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = a log(1 + b), 0 where a = 0, NaN where b is;   da = dy log(1 + b), 0 where a = 0 and b <= -1;   db = dy a / (1 + b)."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sin(pi x) / (pi x), 1 at 0;   dx = dy (cos(pi x) - y) / x, 0 at 0."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = I_0(x);   dx = dy I_1(x)."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = I_0(x);   dx = dy I_1(x)."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(-abs(x)) I_0(x);   dx = dy (exp(-abs(x)) I_1(x) - sign(x) y)."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = I_1(x);   dx = dy (I_0(x) - y / x), dy / 2 at 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = I_1(x);   dx = dy (I_0(x) - y / x), dy / 2 at 0."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(-abs(x)) I_1(x);   dx = dy (exp(-abs(x)) I_0(x) - y (sign(x) + 1 / x)), dy / 2 at 0."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(x^2) erfc(x);   dx = dy (2 x y - 2 / sqrt(pi))."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sin(x) / x, 1 at 0;   dx = dy (cos(x) - y) / x, 0 at 0."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = K_0(x);   dx = -dy K_1(x)."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = K_1(x);   dx = -dy (K_0(x) + y / x)."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(x) K_0(x);   dx = dy (y - exp(x) K_1(x))."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = exp(x) K_1(x);   dx = dy (y - y / x - exp(x) K_0(x))."""
def igamma(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = P(a, x), x = b;   dx = dy x^(a-1) exp(-x) / Gamma(a);   da = dy times how P moves with a (`gammainc_slope`)."""
def gammainc(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = P(a, x), x = b;   dx = dy x^(a-1) exp(-x) / Gamma(a);   da = dy times how P moves with a (`gammainc_slope`)."""
def igammac(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign."""
def gammaincc(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = J_0(x);   dx = -dy J_1(x)."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = J_1(x);   dx = dy (J_0(x) - y / x), dy / 2 at 0."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = Y_0(x);   dx = -dy Y_1(x)."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = Y_1(x);   dx = dy (Y_0(x) - y / x)."""
def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = Ai(x);   dx = dy Ai'(x)."""
def chebyshev_polynomial_t(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = T_n(x), n = b: cos(n t) of cos t;   dx = dy T_n'(x)."""
def chebyshev_polynomial_u(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = U_n(x), n = b: sin((n + 1) t) / sin t of cos t;   dx = dy U_n'(x)."""
def chebyshev_polynomial_v(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = V_n(x), n = b: cos((n + 1/2) t) / cos(t / 2) of cos t;   dx = dy V_n'(x)."""
def chebyshev_polynomial_w(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = W_n(x), n = b: sin((n + 1/2) t) / sin(t / 2) of cos t;   dx = dy W_n'(x)."""
def shifted_chebyshev_polynomial_t(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = T_n(2 x - 1), n = b;   dx = 2 dy T_n'(2 x - 1)."""
def shifted_chebyshev_polynomial_u(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = U_n(2 x - 1), n = b;   dx = 2 dy U_n'(2 x - 1)."""
def shifted_chebyshev_polynomial_v(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = V_n(2 x - 1), n = b;   dx = 2 dy V_n'(2 x - 1)."""
def shifted_chebyshev_polynomial_w(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = W_n(2 x - 1), n = b;   dx = 2 dy W_n'(2 x - 1)."""
def hermite_polynomial_h(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = H_n(x), n = b, the physicists' polynomials;   dx = dy H_n'(x)."""
def hermite_polynomial_he(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = He_n(x), n = b, the probabilists' polynomials;   dx = dy He_n'(x)."""
def laguerre_polynomial_l(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = L_n(x), n = b;   dx = dy L_n'(x)."""
def legendre_polynomial_p(input: Tensor | _float, n: Tensor | _float, *, out: Tensor | None = None) -> Tensor:
    """y = P_n(x), n = b;   dx = dy P_n'(x)."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sin(x);   dx = dy cos(x)."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = cos(x);   dx = -dy sin(x)."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = tan(x);   dx = dy (1 + y^2)."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcsin(x);   dx = dy / sqrt(1 - x^2)."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcsin(x);   dx = dy / sqrt(1 - x^2)."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arccos(x);   dx = -dy / sqrt(1 - x^2)."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arccos(x);   dx = -dy / sqrt(1 - x^2)."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arctan(x);   dx = dy / (1 + x^2)."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arctan(x);   dx = dy / (1 + x^2)."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = sinh(x);   dx = dy cosh(x)."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = cosh(x);   dx = dy sinh(x)."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arsinh(x);   dx = dy / sqrt(x^2 + 1)."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arsinh(x);   dx = dy / sqrt(x^2 + 1)."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcosh(x);   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = arcosh(x);   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = artanh(x);   dx = dy / (1 - x^2)."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """y = artanh(x);   dx = dy / (1 - x^2)."""
def atan2(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)."""
def arctan2(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)."""
def hypot(input: Tensor | _complex, other: Tensor | _complex, *, out: Tensor | None = None) -> Tensor:
    """y = sqrt(a^2 + b^2), without overflow on the way;   da = dy a / y, db = dy b / y."""
