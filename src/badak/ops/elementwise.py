"""Functions of one number: exponentials, logarithms, roots, absolute value, rounding."""

from typing import Any

import numpy as np

from badak import kernels
from badak.kernels import elementary
from badak.kernels.reference.error_function import erf
from badak.ops._broadcast import each
from badak.ops._complex import conj
from badak.ops.arithmetic import power
from badak.ops.pointwise import Samples, pointwise

LN2, LN10 = 0.6931471805599453, 2.302585092994046
TWO_OVER_ROOT_PI = 1.1283791670955126
POSITIVE, EVERY = (0.2, 4.0), Samples(extremes=("all",))
HALVES = (-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 1e10, np.inf, np.nan)

Exp = pointwise(
    "Exp", "y = exp(x);   dx = dy y.",
    lambda x: kernels.of(x).exp(x),
    lambda dy, y: each(np.multiply, dy, conj(y)),
    public="exp", takes="float", like=np.exp, laid_out=False, capturable=True, supports_bf16=True, samples=EVERY,
)  # fmt: skip
Exp2 = pointwise(
    "Exp2", "y = 2^x;   dx = dy y ln 2.", np.exp2,
    lambda dy, y: dy * y * LN2,
    portable="f", public="exp2", special="exp2", analytic=True, samples=Samples(extremes=("small",)),
)  # fmt: skip
Expm1 = pointwise(
    "Expm1", "y = exp(x) - 1, exact near 0;   dx = dy (y + 1).", np.expm1,
    lambda dy, y: dy * (y + 1),
    public="expm1", special="expm1", analytic=True, samples=EVERY,
)  # fmt: skip
Log = pointwise(
    "Log", "y = log(x);   dx = dy / x.",
    lambda x: kernels.of(x).log(x),
    lambda dy, x: each(np.true_divide, dy, conj(x)),
    public="log", takes="float", like=np.log, laid_out=False, capturable=True, supports_bf16=True,
    samples=Samples(POSITIVE, ("all",)),
)  # fmt: skip
Log1p = pointwise(
    "Log1p", "y = log(1 + x), exact near 0;   dx = dy / (1 + x).", np.log1p,
    lambda dy, x: dy / (x + 1),
    public="log1p", special="log1p", analytic=True, samples=Samples((-0.5, 4.0), ("all",)),
)  # fmt: skip
Log2 = pointwise(
    "Log2", "y = log2 x;   dx = dy / (x ln 2).", np.log2,
    lambda dy, x: dy / (x * LN2),
    public="log2", analytic=True, samples=Samples(POSITIVE, ("all",), False),
)  # fmt: skip
Log10 = pointwise(
    "Log10", "y = log10 x;   dx = dy / (x ln 10).", np.log10,
    lambda dy, x: dy / (x * LN10),
    public="log10", analytic=True, samples=Samples(POSITIVE, ("all",), False),
)  # fmt: skip


def _logaddexp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """max(a, b) + log(1 + exp(-|a - b|)); a where both are the same infinity. NumPy's own does not vectorise."""
    top = np.maximum(a, b)
    return np.where(a == b, top + LN2, top + elementary.log1p(elementary.exp(-np.abs(a - b)))).astype(top.dtype, copy=False)


Logaddexp = pointwise(
    "Logaddexp", "y = log(exp(a) + exp(b));   da = dy / (1 + exp(b - a)), db = dy / (1 + exp(a - b)).", _logaddexp,
    lambda dy, a, b: dy / (1 + elementary.exp(b - a)),
    lambda dy, a, b: dy / (1 + elementary.exp(a - b)),
    samples=Samples(None, ("pairs of all",), False),
)  # fmt: skip
Sqrt = pointwise(
    "Sqrt", "y = sqrt(x);   dx = dy / (2 y).", np.sqrt,
    lambda dy, y: each(np.true_divide, dy, each(np.multiply, conj(y), 2)),
    public="sqrt", takes="float", samples=Samples(POSITIVE, ("all",)),
)  # fmt: skip
Rsqrt = pointwise(
    "Rsqrt", "y = 1 / sqrt(x);   dx = -dy y^3 / 2.",
    lambda x: each(np.true_divide, 1, np.sqrt(x)),
    lambda dy, y: each(np.multiply, each(np.multiply, dy, power(y, 3)), -0.5),
    public="rsqrt", analytic=True, samples=Samples(POSITIVE, ("all",), False),
)  # fmt: skip
Square = pointwise(
    "Square", "y = x^2;   dx = dy 2 x.",
    lambda x: each(np.multiply, x, x),
    lambda dy, x: each(np.multiply, dy, conj(each(np.multiply, x, 2))),
    public="square", takes="number", like=np.square, capturable=True, samples=EVERY,
)  # fmt: skip
Reciprocal = pointwise(
    "Reciprocal", "y = 1 / x;   dx = -dy y^2.",
    lambda x: each(np.true_divide, 1, x),
    lambda dy, y: -dy * conj(y * y),
    public="reciprocal", takes="float", like=np.reciprocal, capturable=True, samples=Samples(POSITIVE, ("all",), False),
)  # fmt: skip
Erf = pointwise(
    "Erf", "y = erf(x) = 2/sqrt(pi) int_0^x exp(-t^2) dt;   dx = dy 2/sqrt(pi) exp(-x^2).",
    lambda x: kernels.of(x).erf(x),
    lambda dy, x: dy * (elementary.exp(-np.square(x)) * TWO_OVER_ROOT_PI),
    public="erf", special="erf", like=erf, capturable=True, samples=EVERY,
)  # fmt: skip


def signs(x: np.ndarray) -> np.ndarray:
    """-1, 0, 1 as x is negative, zero, positive, and 0 where it is not a number, as in PyTorch; x / |x| for complex x."""
    return np.sign(x) if x.dtype.kind not in "fV" else np.subtract(x > 0, x < 0, dtype=x.dtype)


def _sign_slope(dy: Any, x: Any) -> Any:
    """0; of complex numbers x / |x| has one."""
    if x.dtype.kind != "c":
        return np.zeros_like(dy)
    y, size = np.sign(x), np.abs(x)
    return np.where(size == 0, 0, (dy - (dy * y.conj()).real * y) / size).astype(x.dtype, copy=False)


Abs = pointwise(
    "Abs", "y = abs(x);   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / abs(x).", np.abs,
    lambda dy, x: dy * signs(x),
    public="abs absolute", takes="number", in_place="both method", samples=EVERY,
)  # fmt: skip
Sign = pointwise(
    "Sign",
    """y = -1, 0, 1 as x is negative, zero, positive, 0 where it is not a number;   dx = 0.

    For complex x, y = x / abs(x) and dx = (dy - Re(dy y*) y) / abs(x), 0 where x = 0.
    """,
    signs, _sign_slope, steps=True, public="sgn", takes="number", in_place="method", like=np.sign, samples=EVERY,
)  # fmt: skip
Floor = pointwise(
    "Floor", "y = the largest integer <= x;   dx = 0.", np.floor,
    public="floor", takes="rounding", samples=Samples(None, (HALVES,)),
)  # fmt: skip
Ceil = pointwise(
    "Ceil", "y = the smallest integer >= x;   dx = 0.", np.ceil,
    public="ceil", takes="rounding", samples=Samples(None, (HALVES,)),
)  # fmt: skip
Trunc = pointwise(
    "Trunc", "y = x without its fraction;   dx = 0.", np.trunc,
    public="trunc fix", takes="rounding", samples=Samples(None, (HALVES,)),
)  # fmt: skip
Round = pointwise(
    "Round", "y = the nearest number with `decimals` digits, halves to the even one;   dx = 0.",
    lambda x, decimals=0: np.rint(x) if decimals == 0 else np.round(x, decimals),
    samples=Samples(None, (HALVES,)),
)  # fmt: skip
Frac = pointwise(
    "Frac", "y = x - trunc(x);   dx = dy.",
    lambda x: x - np.trunc(x),
    lambda dy: dy,
    public="frac", takes="number", owns_grads=False, samples=Samples(None, (HALVES[:-2],)),
)  # fmt: skip
