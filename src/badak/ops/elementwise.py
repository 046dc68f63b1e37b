"""Functions of one number: exponentials, logarithms, roots, absolute value, rounding."""

import numpy as np

from badak import kernels
from badak.kernels.reference._erf import erf
from badak.ops._broadcast import each, elementwise, quiet, unbroadcast
from badak.ops._complex import analytic, conj
from badak.ops.op import Op
from badak.ops.power import power

LN2, LN10 = 0.6931471805599453, 2.302585092994046
TWO_OVER_ROOT_PI = 1.1283791670955126


class Exp(Op):
    """y = exp(x);   dx = dy y."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.y = y = kernels.of(x).exp(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.multiply, dy, conj(saved.y))


class Exp2(Op):
    """y = 2^x;   dx = dy y ln 2."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = np.exp2(x)
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy * saved.y * LN2


class Expm1(Op):
    """y = exp(x) - 1, exact near 0;   dx = dy (y + 1)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = np.expm1(x)
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy * (saved.y + 1)


class Log(Op):
    """y = ln x;   dx = dy / x."""

    capturable = True
    supports_bf16 = True

    @staticmethod
    def forward(save, x):
        save.x = x
        return kernels.of(x).log(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.true_divide, dy, conj(saved.x))


class Log1p(Op):
    """y = ln(1 + x), exact near 0;   dx = dy / (1 + x)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.log1p(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / (saved.x + 1)


class Log2(Op):
    """y = log2 x;   dx = dy / (x ln 2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.log2(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / (saved.x * LN2)


class Log10(Op):
    """y = log10 x;   dx = dy / (x ln 10)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.log10(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / (saved.x * LN10)


class Logaddexp(Op):
    """y = ln(exp(a) + exp(b));   da = dy exp(a - y), db = dy exp(b - y)."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        save.y = y = np.logaddexp(a, b)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return tuple(
            unbroadcast(dy * np.exp(x - saved.y), x.shape) if need else None for x, need in zip((saved.a, saved.b), saved.needs)
        )


class Sqrt(Op):
    """y = sqrt(x);   dx = dy / (2 y)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = np.sqrt(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.true_divide, dy, each(np.multiply, conj(saved.y), 2))


class Rsqrt(Op):
    """y = 1 / sqrt(x);   dx = -dy y^3 / 2."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = each(np.true_divide, 1, np.sqrt(x))
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        y = saved.y
        return each(np.multiply, each(np.multiply, dy, power(y, 3)), -0.5)


class Square(Op):
    """y = x^2;   dx = 2 dy x."""

    capturable = True

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return each(np.multiply, x, x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return each(np.multiply, dy, conj(each(np.multiply, saved.x, 2)))


class Reciprocal(Op):
    """y = 1 / x;   dx = -dy y^2."""

    capturable = True

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = each(np.true_divide, 1, x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return -dy * conj(saved.y * saved.y)


class Erf(Op):
    """y = 2/sqrt(pi) int_0^x exp(-t^2) dt;   dx = 2/sqrt(pi) exp(-x^2) dy."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return erf(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * (np.exp(-np.square(saved.x)) * TWO_OVER_ROOT_PI)


def signs(x):
    """-1, 0, 1 as x is negative, zero, positive, and 0 where it is not a number, as in PyTorch; x / |x| for complex x."""
    return np.sign(x) if x.dtype.kind not in "fV" else np.subtract(x > 0, x < 0, dtype=x.dtype)


class Abs(Op):
    """y = |x|;   dx = dy sign(x), 0 at 0; for complex x: dx = dy x / |x|."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.abs(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * signs(saved.x)


class Sign(Op):
    """y = -1, 0, 1 as x is negative, zero, positive, 0 where it is not a number;   dx = 0.

    For complex x, y = x / |x| and dx = (dy - Re(dy y*) y) / |x|, 0 where x = 0.
    """

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return signs(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x = saved.x
        if x.dtype.kind != "c":
            return np.zeros_like(dy)
        y, size = np.sign(x), np.abs(x)
        return np.where(size == 0, 0, (dy - (dy * y.conj()).real * y) / size).astype(x.dtype, copy=False)


def _no_slope(saved, dy):
    return np.zeros_like(dy)


class Floor(Op):
    """y = the largest whole number <= x;   dx = 0."""

    saves_no_tensors = True
    backward = staticmethod(_no_slope)

    @staticmethod
    @elementwise
    def forward(save, x):
        return np.floor(x)


class Ceil(Op):
    """y = the smallest whole number >= x;   dx = 0."""

    saves_no_tensors = True
    backward = staticmethod(_no_slope)

    @staticmethod
    @elementwise
    def forward(save, x):
        return np.ceil(x)


class Trunc(Op):
    """y = x without its fraction;   dx = 0."""

    saves_no_tensors = True
    backward = staticmethod(_no_slope)

    @staticmethod
    @elementwise
    def forward(save, x):
        return np.trunc(x)


class Round(Op):
    """y = the nearest number with `decimals` digits, halves to the even one;   dx = 0."""

    saves_no_tensors = True
    backward = staticmethod(_no_slope)

    @staticmethod
    @elementwise
    def forward(save, x, decimals=0):
        return np.rint(x) if decimals == 0 else np.round(x, decimals)


class Frac(Op):
    """y = x - trunc(x);   dx = dy."""

    owns_grads = False

    saves_no_tensors = True

    @staticmethod
    @elementwise
    def forward(save, x):
        return x - np.trunc(x)

    @staticmethod
    def backward(saved, dy):
        return dy
