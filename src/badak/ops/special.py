"""Functions of mathematics beyond the exponentials: error and gamma functions, entropies, choices that know NaN and signs."""

from typing import Any

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference import special
from badak.ops.pointwise import Pointwise, Samples, pointwise
from badak.ops.select import choose

TWO_OVER_ROOT_PI, HALF_ROOT_PI = 1.1283791670955126, 0.886226925452758
POSITIVE = (0.2, 4.0)
ZEROS = ((0.0, 0.0, 0.0, 0.0, 2.0, -1.0, np.nan), (0.0, -1.0, np.nan, np.inf, 0.0, 3.0, 1.0))
SIGNS = ((0.0, -0.0, 1.0, -2.0, np.inf, np.nan), (-1.0, 1.0, -0.0, 0.0, -3.0, 1.0))
NANS = ((1.0, np.nan, np.nan, 3.0, np.inf), (1.0, 2.0, np.nan, np.nan, -np.inf))

Erfc = pointwise(
    "Erfc", "y = 1 - erf(x), exact where it is small;   dx = -dy 2/sqrt(pi) exp(-x^2).", special.erfc,
    lambda dy, x: dy * (elementary.exp(-np.square(x)) * -TWO_OVER_ROOT_PI),
    public="erfc", special="erfc", laid_out=False, samples=Samples(extremes=("all", (0.4, 0.5, 3.9, 4.1, 9.0, -5.0))),
)  # fmt: skip
Erfinv = pointwise(
    "Erfinv", "y with erf(y) = x;   dx = dy sqrt(pi)/2 exp(y^2).", special.erfinv,
    lambda dy, y: dy * (elementary.exp(np.square(y)) * HALF_ROOT_PI),
    public="erfinv", special="erfinv", in_place="method", laid_out=False,
    samples=Samples((-0.95, 0.95), ((0.0, 1.0, -1.0, 1.5, np.nan),)),
)  # fmt: skip
Lgamma = pointwise(
    "Lgamma", "y = log(abs(Gamma(x)));   dx = dy digamma(x).", special.lgamma,
    lambda dy, x: dy * Polygamma.of(x, n=0),
    public="lgamma", special="gammaln", in_place="method", laid_out=False,
    # near its zeros at 1 and 2 the gradient, digamma, of PyTorch keeps fewer digits
    samples=Samples((0.2, 30.0), ((0.0, -1.0, np.inf, np.nan),), False),
)  # fmt: skip
Polygamma: type[Pointwise] = pointwise(
    "Polygamma", "y = the n-th derivative of digamma, n = 0 digamma itself;   dx = dy polygamma(n + 1, x).",
    lambda x, n: special.polygamma(n, x),
    lambda dy, x, n: dy * Polygamma.of(x, n=n + 1),
    # PyTorch's trigamma stops its series after a relative 1e-9
    laid_out=False, samples=Samples((0.2, 9.0), slack=1e6, attributes={"n": [0, 1, 2, 3]}),
)  # fmt: skip
Xlogy = pointwise(
    "Xlogy", "y = a log(b), 0 where a = 0, NaN where b is;   da = dy log(b), 0 where a = 0 and b <= 0;   db = dy a / b.",
    lambda a, b: np.where((a == 0) & (b == b), a.dtype.type(0), a * elementary.log(b)),
    lambda dy, a, b: dy * np.where((a == 0) & (b <= 0), a.dtype.type(0), elementary.log(b)),
    lambda dy, a, b: dy * (a / b),
    public="xlogy", special="xlogy", takes="real", samples=Samples(POSITIVE, (ZEROS,), False),
)  # fmt: skip
Entr = pointwise(
    "Entr", "y = -x log(x), 0 at 0, -inf below;   dx = -dy (log(x) + 1).",
    lambda x: np.where(x > 0, -x * elementary.log(x), np.where(x < 0, x.dtype.type(-np.inf), np.abs(x))),
    lambda dy, x: dy * -(elementary.log(x) + 1),
    special="entr", takes="real", samples=Samples(POSITIVE, ((0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan),)),
)  # fmt: skip
Xlog1py = pointwise(
    "Xlog1py",
    "y = a log(1 + b), 0 where a = 0, NaN where b is;   da = dy log(1 + b), 0 where a = 0 and b <= -1;   db = dy a / (1 + b).",
    lambda a, b: np.where((a == 0) & (b == b), a.dtype.type(0), a * elementary.log1p(b)),
    lambda dy, a, b: dy * np.where((a == 0) & (b <= -1), a.dtype.type(0), elementary.log1p(b)),
    lambda dy, a, b: dy * (a / (b + 1)),
    special="xlog1py", takes="real", samples=Samples(POSITIVE, (ZEROS,), False),
)  # fmt: skip


def _bounds(x: np.ndarray, eps: float | None) -> tuple:
    """From where on x is kept at which number; None and a negative eps keep nothing."""
    eps = 0.0 if eps is None or eps < 0 else eps
    return x.dtype.type(eps), x.dtype.type(1) - x.dtype.type(eps)


def _logit(x: np.ndarray, eps: Any = None) -> Any:
    if eps is not None and eps >= 0:  # above 0.5 the bounds cross, and the lower one comes first
        low, high = _bounds(x, eps)
        x = np.where(x < low, low, np.where(x > high, high, x))
    return elementary.log(x / (1 - x))


def _logit_slope(dy: Any, x: Any, eps: float | None) -> Any:
    low, high = _bounds(x, eps)
    beyond = np.nan if eps is None or eps < 0 else 0
    return np.where((x < low) | (x > high), x.dtype.type(beyond), dy / (x * (1 - x)))


Logit = pointwise(
    "Logit", "y = log(z / (1 - z)), z = x kept in [eps, 1 - eps];   dx = dy / (x (1 - x)), 0 outside. eps None: NaN outside.",
    _logit, _logit_slope,
    samples=Samples((0.1, 0.9), ((0.0, 1.0, -0.1, 1.1, np.nan),), False, attributes={"eps": [None, 0.2, 0.6, -0.1]}),
)  # fmt: skip
Sinc = pointwise(
    "Sinc", "y = sin(pi x) / (pi x), 1 at 0;   dx = dy (cos(pi x) - y) / x, 0 at 0.",
    lambda x: np.where(x == 0, x.dtype.type(1), np.sin(x * np.pi) / (x * np.pi)),
    lambda dy, x, y: np.where(x == 0, x.dtype.type(0), dy * ((np.cos(x * np.pi) - y) / x)),
    public="sinc", special="sinc", analytic=True, samples=Samples(extremes=((0.0, -0.0, 0.5, np.nan),)),
)  # fmt: skip
Copysign = pointwise(
    "Copysign", "y = abs(a) with the sign of b;   da = dy y / a, 0 at 0;   db = 0.", np.copysign,
    lambda dy, a, y: np.where(a == 0, a.dtype.type(0), dy * (y / a)),
    lambda dy: np.zeros_like(dy),
    samples=Samples(None, (SIGNS,), False),
)  # fmt: skip
Fmax = pointwise(
    "Fmax",
    "y = the larger of a and b, the other where one is NaN;   dy goes to the one that is taken, to a where they are equal.",
    np.fmax,
    lambda dy, a, b: choose((a >= b) | (b != b), dy, 0),
    lambda dy, a, b: choose((a >= b) | (b != b), 0, dy),
    samples=Samples(None, (NANS,)),
)  # fmt: skip
Fmin = pointwise(
    "Fmin",
    "y = the smaller of a and b, the other where one is NaN;   dy goes to the one that is taken, to a where they are equal.",
    np.fmin,
    lambda dy, a, b: choose((a <= b) | (b != b), dy, 0),
    lambda dy, a, b: choose((a <= b) | (b != b), 0, dy),
    samples=Samples(None, (NANS,)),
)  # fmt: skip


NextAfter = pointwise(
    "NextAfter", "y = the float next to a in the direction of b;   da = dy, 0 where a = b;   db = 0.", np.nextafter,
    lambda dy, a, b: np.where(a == b, dy.dtype.type(0), dy),
    lambda dy, b_shape: np.zeros(b_shape, dy.dtype),
    name="nextafter", saves_no_tensors=False, data_movement=True,  # the steps of 16-bit floats are theirs
)  # fmt: skip
