"""Elementwise non-linearities. Sources: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016); Elfwing,
Uchibe, Doya, "Sigmoid-weighted linear units" (2017)."""

import math

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import Array, elementwise, in_float32, recordable
from badak.kernels.reference._erf import erf

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
