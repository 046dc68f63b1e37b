"""Elementwise losses; x and target have one shape, and so has the result."""

import numpy as np

from badak.kernels import elementary
from badak.kernels.memory_format import laid
from badak.kernels.reference._arrays import Array, elementwise, in_float32, quiet
from badak.kernels.reference.activation import log1p_exp, sigmoid


@quiet
def kl_div(x: Array, target: Array, log_target: bool) -> Array:
    """The terms of the Kullback-Leibler divergence of target from exp(x); x are log-probabilities.

        loss = t (log t - x)        t = target, or exp(target) where `log_target`

    Source: Kullback, Leibler (1951). A term with t = 0 is 0, its limit, also where x is -inf; NaN where x is inf or NaN.
    """
    t, log_t = (elementary.exp(target), target) if log_target else (target, elementary.log(target))
    return laid(np.where(t == 0, np.where(x < np.inf, 0, t * x), t * (log_t - x)), target, x)


@quiet
def kl_div_backward(dloss: Array, x: Array, target: Array, log_target: bool, needs: tuple[bool, ...]) -> tuple[Array | None, ...]:
    """dx = -t dloss;    dtarget = dloss (log t + 1 - x), times t where `log_target` (dt/dtarget = t)."""
    t, log_t = (elementary.exp(target), target) if log_target else (target, elementary.log(target))
    dx = -t * dloss if needs[0] else None
    dtarget = None
    if needs[1]:
        dtarget = dloss * (log_t + 1 - x)
        if log_target:
            dtarget = np.where(t == 0, 0, t * dtarget)
    return dx, dtarget


@elementwise
@in_float32()
def mse(x: Array, target: Array) -> Array:
    """loss = (x - target)^2."""
    d = x - target
    return d * d


@elementwise
@in_float32("x")
def mse_backward(dloss: Array, x: Array, target: Array) -> Array:
    """dx = 2 (x - target) dloss, and dtarget = -dx."""
    return 2 * (x - target) * dloss


@elementwise
@in_float32()
def huber(x: Array, target: Array, delta: float) -> Array:
    """loss = d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2).

    The square of what is far could be infinite, so that it is not taken.
    """
    d = np.abs(x - target)
    return np.where(d > delta, delta * (d - 0.5 * delta), 0.5 * np.minimum(d, delta) ** 2)


@elementwise
@in_float32("x")
def huber_backward(dloss: Array, x: Array, target: Array, delta: float) -> Array:
    """dx = dloss d, d = x - target kept in [-delta, delta], and dtarget = -dx."""
    return dloss * np.clip(x - target, -delta, delta)


@elementwise
@in_float32()
def smooth_l1(x: Array, target: Array, beta: float) -> Array:
    """loss = d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2."""
    d = np.abs(x - target)
    return np.where(d >= beta, d - 0.5 * beta, 0.5 * np.minimum(d, beta) ** 2 / beta)


@elementwise
@in_float32("x")
def smooth_l1_backward(dloss: Array, x: Array, target: Array, beta: float) -> Array:
    """dx = dloss d / beta, d = x - target kept in [-beta, beta], and dtarget = -dx."""
    return dloss * (np.clip(x - target, -beta, beta) / beta)


@quiet
def bce_with_logits(x: Array, target: Array, weight: Array | None = None, pos_weight: Array | None = None) -> Array:
    """Binary cross entropy of sigmoid(x).    weight w and pos_weight p broadcast to x's shape.

    loss = w (p t softplus(-x) + (1 - t) softplus(x))        softplus(x) = log(1 + exp(x))
         = w ((1 - t) x + (p t + 1 - t) softplus(-x))        because softplus(x) = x + softplus(-x)
    """
    positive = 1 if pos_weight is None else pos_weight
    loss = (1 - target) * x + (positive * target + 1 - target) * log1p_exp(-x)
    return laid(loss if weight is None else loss * weight, target, x)


@quiet
def bce_with_logits_backward(
    dloss: Array, x: Array, target: Array, weight: Array | None, pos_weight: Array | None, needs: tuple[bool, ...]
) -> tuple[Array | None, ...]:
    """With softplus' = sigmoid:

    dx = dloss w ((p t + 1 - t) sigmoid(x) - p t)        dtarget = dloss w (p softplus(-x) - softplus(x))
    """
    positive = 1 if pos_weight is None else pos_weight
    scaled = dloss if weight is None else dloss * weight
    dx = dtarget = None
    if needs[0]:
        dx = scaled * ((positive * target + 1 - target) * sigmoid(x) - positive * target)
    if needs[1]:
        dtarget = scaled * (positive * log1p_exp(-x) - log1p_exp(x))
    return dx, dtarget
