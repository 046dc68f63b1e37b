"""Elementwise non-linearities. Sources: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016); Elfwing,
Uchibe, Doya, "Sigmoid-weighted linear units" (2017)."""

import math

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import Array, elementwise, in_float32, recordable
from badak.kernels.reference.error_function import erf

ROOT_HALF = math.sqrt(1 / 2)
ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
CUBIC = 0.044715


@elementwise
@in_float32()
def gelu(x: Array, approximate: str) -> Array:
    """y = x Phi(x), Phi the distribution function of the standard normal.

    "none":  y = x/2 (1 + erf(x / sqrt 2))
    "tanh":  y = x/2 (1 + tanh(u)),  u = sqrt(2/pi) (x + 0.044715 x^3)
    """
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(ROOT_2_OVER_PI * (x + CUBIC * x * x * x)))
    return 0.5 * x * (1 + erf(x * ROOT_HALF))


@elementwise
@in_float32()
def gelu_backward(dy: Array, x: Array, approximate: str) -> Array:
    """
    "none":  dx = dy (Phi(x) + x phi(x)),  phi(x) = exp(-x^2/2) / sqrt(2 pi)
    "tanh":  dx = dy ((1 + t)/2 + x/2 (1 - t^2) du/dx),  t = tanh(u),  du/dx = sqrt(2/pi) (1 + 3 *
    0.044715 x^2)
    """
    if approximate == "tanh":
        x = np.clip(x, -20, 20)  # beyond, tanh is 1 and its slope 0 in every precision; keeps x^3 finite
        t = np.tanh(ROOT_2_OVER_PI * (x + CUBIC * x * x * x))
        slope = ROOT_2_OVER_PI * (1 + 3 * CUBIC * x * x)
        return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)
    density = elementary.exp(-0.5 * x * x) * (0.5 * ROOT_2_OVER_PI)
    return dy * (0.5 * (1 + erf(x * ROOT_HALF)) + x * density)


@elementwise
@in_float32()
def relu(x: Array) -> Array:
    """y = max(x, 0); NaN stays NaN."""
    return np.maximum(x, 0)


@elementwise
@in_float32()
def relu_backward(dy: Array, y: Array) -> Array:
    """dx = dy where y > 0 (or NaN), else 0: the slope at 0 is taken as 0."""
    return np.where(y <= 0, 0, dy)


@recordable
@elementwise
@in_float32()
def sigmoid(x: Array) -> Array:
    """y = 1 / (1 + exp(-x)); an overflow of exp is the limit 0."""
    return 1 / (1 + elementary.exp(-x))


@elementwise
@in_float32()
def sigmoid_backward(dy: Array, y: Array) -> Array:
    """dx = dy y (1 - y)."""
    return dy * y * (1 - y)


@elementwise
@in_float32()
def leaky_relu(x: Array, slope: float) -> Array:
    """y = x where x > 0, else slope x."""
    return np.where(x > 0, x, x * slope)


@elementwise
@in_float32()
def leaky_relu_backward(dy: Array, x: Array, slope: float) -> Array:
    """dx = dy where x > 0, else slope dy."""
    return np.where(x > 0, dy, dy * slope)


@elementwise
@in_float32()
def hardtanh(x: Array, low: float, high: float) -> Array:
    """y = x between low and high, the nearer of the two beyond."""
    return np.clip(x, low, high)


@elementwise
@in_float32()
def hardtanh_backward(dy: Array, x: Array, low: float, high: float) -> Array:
    """dx = dy where low < x < high, else 0: the slope at the corners is taken as 0."""
    return np.where((x <= low) | (x >= high), 0, dy)


@elementwise
@in_float32()
def hardsigmoid(x: Array) -> Array:
    """y = min(max(x + 3, 0), 6) / 6."""
    return np.clip(x + 3, 0, 6) / 6


@elementwise
@in_float32()
def hardsigmoid_backward(dy: Array, x: Array) -> Array:
    """dx = dy / 6 where -3 < x < 3, else 0."""
    return np.where((x > -3) & (x < 3), dy / 6, 0)


@elementwise
@in_float32()
def hardswish(x: Array) -> Array:
    """y = x min(max(x + 3, 0), 6) / 6."""
    return x * np.clip(x + 3, 0, 6) / 6


@elementwise
@in_float32()
def hardswish_backward(dy: Array, x: Array) -> Array:
    """dx = 0 up to -3, dy from 3 on, dy (x / 3 + 1/2) between them."""
    return np.where(x <= -3, 0, np.where(x < 3, dy * (x / 3 + 0.5), dy))


@elementwise
@in_float32()
def elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    """y = scale x above 0, else scale alpha (exp(input_scale x) - 1)."""
    return scale * np.where(x <= 0, alpha * np.expm1(_below_zero(x) * input_scale), x)


@elementwise
@in_float32()
def elu_backward(dy: Array, x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    """dx = dy scale above 0, else dy scale alpha input_scale exp(input_scale x)."""
    return dy * (scale * np.where(x <= 0, alpha * input_scale * elementary.exp(_below_zero(x) * input_scale), 1))


def _below_zero(x: Array) -> Array:
    """x where it is at most 0, else 0: an exponential of a large x would be inf, and 0 inf NaN."""
    return np.where(x <= 0, x, 0)


@recordable
@elementwise
@in_float32()
def log1p_exp(x: Array) -> Array:
    """log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))."""
    return np.maximum(x, 0) + elementary.log1p(elementary.exp(-np.abs(x)))


@elementwise
@in_float32()
def softplus(x: Array, beta: float, threshold: float) -> Array:
    """y = log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""
    z = x * beta
    return np.where(z > threshold, x, log1p_exp(z) / beta)


@elementwise
@in_float32()
def softplus_backward(dy: Array, x: Array, beta: float, threshold: float) -> Array:
    """dx = dy sigmoid(beta x), dy where beta x > threshold."""
    z = x * beta
    return np.where(z > threshold, dy, dy * sigmoid(z))


@elementwise
@in_float32()
def log_sigmoid(x: Array) -> Array:
    """y = -log(1 + exp(-x))."""
    return -log1p_exp(-x)


@elementwise
@in_float32()
def log_sigmoid_backward(dy: Array, x: Array) -> Array:
    """dx = dy sigmoid(-x)."""
    return dy * sigmoid(-x)


@elementwise
@in_float32()
def mish(x: Array) -> Array:
    """y = x tanh(log(1 + exp(x)))."""
    return x * np.tanh(log1p_exp(x))


@elementwise
@in_float32()
def mish_backward(dy: Array, x: Array) -> Array:
    """With t = tanh(log(1 + exp(x))): dx = dy (t + x (1 - t^2) sigmoid(x))."""
    t = np.tanh(log1p_exp(x))
    return dy * (t + x * (1 - t * t) * sigmoid(x))


@elementwise
@in_float32()
def silu(x: Array) -> Array:
    """y = x s, s = sigmoid(x)."""
    return x * sigmoid(x)


@elementwise
@in_float32()
def silu_backward(dy: Array, x: Array) -> Array:
    """dx = dy s (1 + x (1 - s))."""
    s = sigmoid(x)
    return dy * s * (1 + x * (1 - s))


@elementwise
@in_float32()
def tanh(x: Array) -> Array:
    """y = tanh(x)."""
    return np.tanh(x)


@elementwise
@in_float32()
def tanh_backward(dy: Array, y: Array) -> Array:
    """dx = dy (1 - y^2)."""
    return dy * (1 - y * y)
