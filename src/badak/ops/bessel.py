"""Modified Bessel functions, the scaled complement of the error function, incomplete gamma functions."""

import numpy as np

from badak.kernels.reference import bessel, special
from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops.op import Op

TWO_OVER_ROOT_PI = 1.1283791670955126


class I0(Op):
    """y = I_0(x);   dx = dy I_1(x)."""

    name = "i0"

    @staticmethod
    def forward(save, x):
        save.x = x
        return bessel.i0(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * bessel.i1(saved.x)


class I0e(Op):
    """y = exp(-|x|) I_0(x);   dx = dy (exp(-|x|) I_1(x) - sign(x) y)."""

    name = "i0e"

    @staticmethod
    def forward(save, x):
        save.x = x
        save.y = y = bessel.i0e(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * (bessel.i1e(saved.x) - np.sign(saved.x) * saved.y)


class I1(Op):
    """y = I_1(x);   dx = dy (I_0(x) - y / x), dy / 2 at 0."""

    name = "i1"

    @staticmethod
    def forward(save, x):
        save.x = x
        save.y = y = bessel.i1(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        x = saved.x
        return dy * np.where(x == 0, x.dtype.type(0.5), bessel.i0(x) - saved.y / np.where(x == 0, x.dtype.type(1), x))


class I1e(Op):
    """y = exp(-|x|) I_1(x);   dx = dy (exp(-|x|) I_0(x) - y (sign(x) + 1 / x)), dy / 2 at 0."""

    name = "i1e"

    @staticmethod
    def forward(save, x):
        save.x = x
        save.y = y = bessel.i1e(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        x = saved.x
        one = x.dtype.type(1)
        slope = bessel.i0e(x) - saved.y * (np.sign(x) + one / np.where(x == 0, one, x))
        return dy * np.where(x == 0, x.dtype.type(0.5), slope)


class Erfcx(Op):
    """y = exp(x^2) erfc(x);   dx = dy (2 x y - 2 / sqrt(pi))."""

    @staticmethod
    def forward(save, x):
        save.x = x
        save.y = y = bessel.erfcx(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * (saved.x * saved.y * 2 - TWO_OVER_ROOT_PI)


class GammaInc(Op):
    """y = P(a, x);   dx = dy p, p = x^(a-1) exp(-x) / Gamma(a);   da = -dy p times how x moves with a, P kept (`gamma_slope`)."""

    name = "igamma"

    @staticmethod
    @elementwise
    def forward(save, a, x):
        save.a, save.x = a, x
        return bessel.gammainc(a, x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _of_both(saved, dy)


class GammaIncC(Op):
    """y = Q(a, x) = 1 - P(a, x): the gradients of P with the other sign."""

    name = "igammac"

    @staticmethod
    @elementwise
    def forward(save, a, x):
        save.a, save.x = a, x
        return bessel.gammaincc(a, x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _of_both(saved, -dy)


def _of_both(saved, dy):
    a, x = saved.a, saved.x
    p = np.exp((a - 1) * np.log(x) - x - special.lgamma(a))
    da = unbroadcast(dy * bessel.gammainc_slope(a, x), a.shape) if saved.needs[0] else None
    return da, unbroadcast(dy * p, x.shape) if saved.needs[1] else None
