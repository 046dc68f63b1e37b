"""The error function erf(x) = 2/sqrt(pi) * integral of exp(-t^2) from 0 to x, which NumPy does not have.

Source: W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23
(1969):
    |x| <= 0.46875   erf(x)  = x A(x^2) / B(x^2)
    |x| >  0.46875   erfc(x) = exp(-x^2) C(x) / D(x), and erf(x) = sign(x) (1 - erfc(|x|))
Cody has a third formula for erfc beyond 4. There erfc is below 2e-8, so for erf the second one is exact to
rounding. Computed in float64 (error below 3e-16) and rounded to the type of x.
"""

import numpy as np

from badak.kernels.reference._arrays import Array, elementwise, in_blocks, recordable

A = (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3)
B = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
C = (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2,
     8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3)  # fmt: skip
D = (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3,
     4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3)  # fmt: skip


@recordable
@elementwise
@in_blocks
def erf(x: Array) -> Array:
    """erf of every element, in the type of x."""
    return _erf(x.astype(np.float64)).astype(x.dtype)


def _erf(x):
    a = np.abs(x)
    z = x * x
    small = x * _polynomial(A, z) / _polynomial(B, z)
    a = np.minimum(a, 6.0)  # erfc(6) = 2e-17 is nothing next to 1, and the polynomials stay finite
    large = 1.0 - np.exp(-a * a) * _polynomial(C, a) / _polynomial(D, a)
    return np.where(a <= 0.46875, small, np.copysign(large, x))


def _polynomial(coefficients, x):
    """Horner's rule, highest power first."""
    y = coefficients[0] * x + coefficients[1]
    for c in coefficients[2:]:
        y *= x
        y += c
    return y
