"""Losses of two arrays in one pass; those with weights are those of `reference`."""

from badak.kernels import reference
from badak.kernels.numba._maps import mapped
from badak.kernels.numba.simd.functions import sigmoid as _sigmoid
from badak.kernels.numba.simd.functions import softplus as _softplus


@mapped(0.4, looks=False)
def mse(x, target):
    """loss = (x - target)^2."""
    d = x - target
    return d * d


@mapped(0.5, looks=False)
def mse_backward(dloss, x, target):
    """dx = 2 (x - target) dloss, and dtarget = -dx."""
    return type(x)(2) * (x - target) * dloss


@mapped(0.4, exact=True, looks=False)
def huber(x, target, delta):
    """loss = d^2 / 2 where d = |x - target| <= delta, else delta (d - delta / 2)."""
    d, half = abs(x - target), type(x)(0.5)
    return delta * (d - half * delta) if d > delta else half * d * d


@mapped(0.5, exact=True, looks=False)
def huber_backward(dloss, x, target, delta):
    """dx = dloss d, d = x - target kept in [-delta, delta], and dtarget = -dx."""
    d = x - target
    d = delta if d > delta else d
    return dloss * (-delta if d < -delta else d)


@mapped(0.4, exact=True, looks=False)
def smooth_l1(x, target, beta):
    """loss = d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2."""
    d, half = abs(x - target), type(x)(0.5)
    return d - half * beta if d >= beta else half * d * d / beta


@mapped(0.5, exact=True, looks=False)
def smooth_l1_backward(dloss, x, target, beta):
    """dx = dloss d / beta, d = x - target kept in [-beta, beta], and dtarget = -dx."""
    d = x - target
    d = beta if d > beta else d
    return dloss * ((-beta if d < -beta else d) / beta)


@mapped(1.5, exact=True, looks=False)
def _bce_of_logits(x, target):
    """loss = max(x, 0) - t x + log(1 + exp(-|x|)), the cross entropy of a coin with probability sigmoid(x)."""
    above = x if x > 0 else type(x)(0)
    return (above - target * x) + _softplus(-abs(x))


@mapped(1.5, exact=True, looks=False)
def _bce_of_logits_backward(dloss, x, target):
    """dx = dloss (sigmoid(x) - t)."""
    return dloss * (_sigmoid(x) - target)


def bce_with_logits(x, target, weight=None, pos_weight=None):
    """Binary cross entropy of sigmoid(x)."""
    plain = weight is None and pos_weight is None
    return _bce_of_logits(x, target) if plain else reference.bce_with_logits(x, target, weight, pos_weight)


def bce_with_logits_backward(dloss, x, target, weight, pos_weight, needs):
    """dx and dtarget of `bce_with_logits`."""
    if weight is None and pos_weight is None and not needs[1]:
        return _bce_of_logits_backward(dloss, x, target), None
    return reference.bce_with_logits_backward(dloss, x, target, weight, pos_weight, needs)
