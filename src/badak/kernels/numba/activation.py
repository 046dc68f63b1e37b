"""Elementwise non-linearities as functions of one number. Their meaning is that of `reference`.

Measured against PyTorch's at 4096 x 1024 float32 on one core: GELU 4 times as fast forward, 3 to 4 times backward.
"""

import math

from badak.kernels import reference
from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import of_all, of_one
from badak.kernels.numba._maps import loop_over, mapped
from badak.kernels.numba.lookup_tables import looked_up, scaled
from badak.kernels.numba.simd.functions import exp as _exp
from badak.kernels.numba.simd.functions import expm1 as _expm1
from badak.kernels.numba.simd.functions import normal
from badak.kernels.numba.simd.functions import sigmoid as _sigmoid
from badak.kernels.numba.simd.functions import softplus as _softplus
from badak.kernels.numba.simd.functions import tanh as _tanh

_TANH_SLOPE, _CUBIC = 2 * math.sqrt(2 / math.pi), 0.044715
_DENSITY = 1 / math.sqrt(2 * math.pi)


def _gelu(x):
    """y = x Phi(x)."""
    return x * normal(x)[0]


def _gelu_backward(dy, x, density):
    """dx = dy (Phi(x) + x phi(x)), phi(x) = density exp(-x^2/2), density = 1 / sqrt(2 pi)."""
    cumulative, bell = normal(x)
    return dy * (cumulative + x * (bell * density))


def _gelu_tanh(x, a, c):
    """y = x/2 (1 + tanh(u)) = x sigmoid(2 u), 2 u = a (x + c x^3)."""
    return x * _sigmoid(a * (x + c * x * x * x))


def _gelu_tanh_backward(dy, x, a, c):
    """With s = sigmoid(2 u): dx = dy (s + x s (1 - s) a (1 + 3 c x^2)).

    Beyond |x| = 20 s is 0 or 1 in every precision; there x is taken as +-20, which keeps x^3 finite.
    """
    one, three, end = type(x)(1), type(x)(3), type(x)(20)
    x = end if x > end else x
    x = -end if x < -end else x
    s = _sigmoid(a * (x + c * x * x * x))
    return dy * (s + x * s * (one - s) * a * (one + three * c * x * x))


gelu_block, gelu_backward_block = loop_over(_gelu), loop_over(_gelu_backward)
gelu_tanh_block, gelu_tanh_backward_block = loop_over(_gelu_tanh), loop_over(_gelu_tanh_backward)


def gelu(x, approximate):
    """y = x Phi(x) ("none"), or x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)) ("tanh")."""
    if x.dtype == BFLOAT16:
        return looked_up(reference.gelu, x, approximate)
    if approximate == "tanh":
        return of_one(gelu_tanh_block, x, 1.5, _TANH_SLOPE, _CUBIC)
    return of_one(gelu_block, x, 1.5)


def gelu_backward(dy, x, approximate):
    """dx of `gelu`."""
    if x.dtype == BFLOAT16:
        return scaled(reference.gelu_backward, dy, x, approximate)
    if approximate == "tanh":
        return of_all(gelu_tanh_backward_block, (dy, x), 2, _TANH_SLOPE, _CUBIC)
    return of_all(gelu_backward_block, (dy, x), 2, _DENSITY)


@mapped(0.3, looks=False)
def relu(x):
    """y = max(x, 0); a NaN is neither <= 0 nor lost."""
    zero = type(x)(0)
    return zero if x <= zero else x


@mapped(0.4, looks=False)
def relu_backward(dy, y):
    """dx = dy where y > 0 (or NaN), else 0."""
    zero = type(y)(0)
    return zero if y <= zero else dy


@mapped(0.3, exact=True, looks=False)
def leaky_relu(x, slope):
    """y = x where x > 0, else slope x."""
    return x if x > 0 else x * slope


@mapped(0.4, exact=True, looks=False)
def leaky_relu_backward(dy, x, slope):
    """dx = dy where x > 0, else slope dy."""
    return dy if x > 0 else dy * slope


@mapped(0.3, exact=True, looks=False)
def hardtanh(x, low, high):
    """y = x between low and high, the nearer of the two beyond; NaN stays NaN."""
    x = low if x < low else x
    return high if x > high else x


@mapped(0.4, exact=True, looks=False)
def hardtanh_backward(dy, x, low, high):
    """dx = dy where low < x < high, else 0."""
    zero = type(x)(0)
    return zero if x <= low or x >= high else dy


@mapped(0.4, exact=True, looks=False)
def hardsigmoid(x):
    """y = min(max(x + 3, 0), 6) / 6."""
    zero, three, six = type(x)(0), type(x)(3), type(x)(6)
    x = x + three
    x = zero if x < zero else x
    return (six if x > six else x) / six


@mapped(0.4, exact=True, looks=False)
def hardsigmoid_backward(dy, x):
    """dx = dy / 6 where -3 < x < 3, else 0."""
    zero, three, six = type(x)(0), type(x)(3), type(x)(6)
    return dy / six if x > -three and x < three else zero


@mapped(0.4, exact=True, looks=False)
def hardswish(x):
    """y = x min(max(x + 3, 0), 6) / 6."""
    zero, three, six = type(x)(0), type(x)(3), type(x)(6)
    inner = x + three
    inner = zero if inner < zero else inner
    return x * (six if inner > six else inner) / six


@mapped(0.5, exact=True, looks=False)
def hardswish_backward(dy, x):
    """dx = 0 up to -3, dy from 3 on, dy (x / 3 + 1/2) between them."""
    zero, three, half = type(x)(0), type(x)(3), type(x)(0.5)
    inner = dy * (x / three + half) if x < three else dy
    return zero if x <= -three else inner


@mapped(1, exact=True)
def elu(x, alpha, scale, input_scale):
    """y = scale x above 0, else scale alpha (exp(input_scale x) - 1)."""
    zero = type(x)(0)
    below = x if x <= zero else zero
    return scale * (alpha * _expm1(below * input_scale) if x <= zero else x)


@mapped(1, exact=True)
def elu_backward(dy, x, alpha, scale, input_scale):
    """dx = dy scale above 0, else dy scale alpha input_scale exp(input_scale x)."""
    zero, one = type(x)(0), type(x)(1)
    below = x if x <= zero else zero
    return dy * (scale * (alpha * input_scale * _exp(below * input_scale) if x <= zero else one))


@mapped(1.5, exact=True)
def softplus(x, beta, threshold):
    """y = log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""
    z = x * beta
    return x if z > threshold else _softplus(z) / beta


@mapped(1.5, exact=True)
def softplus_backward(dy, x, beta, threshold):
    """dx = dy sigmoid(beta x), dy where beta x > threshold."""
    z = x * beta
    return dy if z > threshold else dy * _sigmoid(z)


@mapped(1.5, exact=True)
def log_sigmoid(x):
    """y = -log(1 + exp(-x))."""
    return -_softplus(-x)


@mapped(1.5, exact=True)
def log_sigmoid_backward(dy, x):
    """dx = dy sigmoid(-x)."""
    return dy * _sigmoid(-x)


@mapped(1.5, exact=True)
def mish(x):
    """y = x tanh(log(1 + e^x)) = x w / (w + 2), w = e^x (e^x + 2); the quotient is 1 from 20 on."""
    two, end = type(x)(2), type(x)(20)
    e = _exp(end if x > end else x)
    w = e * (e + two)
    return x * (w / (w + two))


@mapped(2, exact=True)
def mish_backward(dy, x):
    """With t = w / (w + 2): dx = dy (t + x (1 - t^2) sigmoid(x)), 1 - t^2 = 4 (w + 1) / (w + 2)^2, 0 from 20 on."""
    zero, one, two, four, end = type(x)(0), type(x)(1), type(x)(2), type(x)(4), type(x)(20)
    e = _exp(end if x > end else x)
    w = e * (e + two)
    lower = one / (w + two)
    bend = zero if x > end else four * (w + one) * lower * lower
    return dy * (w * lower + x * bend * (e / (e + one)))


@mapped(1)
def silu(x):
    """y = x sigmoid(x)."""
    return x * _sigmoid(x)


@mapped(1.5)
def silu_backward(dy, x):
    """dx = dy s (1 + x (1 - s)), s = sigmoid(x)."""
    one, s = type(x)(1), _sigmoid(x)
    return dy * (s * (one + x * (one - s)))


@mapped(1)
def tanh(x):
    """y = tanh(x)."""
    return _tanh(x)


@mapped(0.4, looks=False)
def tanh_backward(dy, y):
    """dx = dy (1 - y^2)."""
    return dy * (type(y)(1) - y * y)


@mapped(1)
def sigmoid(x):
    """y = 1 / (1 + exp(-x))."""
    return _sigmoid(x)


@mapped(0.4, looks=False)
def sigmoid_backward(dy, y):
    """dx = dy y (1 - y)."""
    return dy * (y * (type(y)(1) - y))
