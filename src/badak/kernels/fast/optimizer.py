"""Updates of parameters: one pass over memory. Rounded operation by operation in PyTorch's order, with its fused adds."""

import math

import numpy as np

from badak.kernels import plain
from badak.kernels.fast._blocks import NOTHING, block, blocks_of
from badak.kernels.fast._jit import fma, largest
from badak.kernels.fast._parallel import parallel_exact


@parallel_exact("W1 R1 W1 f f f f f i i")
def sgd_block(task, param, grad, buffer, sign, lr, momentum, rest, decay, nesterov, first):
    """g = sign grad + decay param;  m = momentum m + rest g (g at the first step);  param -= lr (g + momentum m, or m, or g)."""
    without_buffer = buffer.size == 0
    param, grad, buffer = block(task, param), block(task, grad), block(task, buffer)
    if without_buffer:
        for i in range(param.size):
            param[i] = fma(-lr, fma(decay, param[i], sign * grad[i]), param[i])
        return
    for i in range(param.size):
        g = fma(decay, param[i], sign * grad[i])
        m = g if first else fma(rest, g, buffer[i] * momentum)
        buffer[i] = m
        param[i] = fma(-lr, fma(momentum, m, g) if nesterov else m, param[i])


@parallel_exact("W1 R1 W1 W1 W1 f f f f f f f f f")
def adam_block(
    task, param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, sign, keep, decay, rest1, beta2, rest2, root, eps, rate
):
    """g = sign grad + decay param;  param *= keep;  m += rest1 (g - m);  v = beta2 v + rest2 g^2;
    param -= rate m / (sqrt(v) / root + eps), where amsgrad takes the largest v so far.
    """
    amsgrad = max_exp_avg_sq.size > 0
    param, grad, exp_avg, exp_avg_sq = (
        block(task, param),
        block(task, grad),
        block(task, exp_avg),
        block(task, exp_avg_sq),
    )
    maxima = block(task, max_exp_avg_sq)
    half, one = param.dtype.type(0.5), param.dtype.type(1)
    near = rest1 < half  # PyTorch interpolates from the nearer end
    for i in range(param.size):
        g = fma(decay, param[i], sign * grad[i])
        d = g - exp_avg[i]
        m = fma(rest1, d, exp_avg[i]) if near else g - d * (one - rest1)
        v = exp_avg_sq[i] * beta2 + rest2 * g * g
        exp_avg[i] = m
        exp_avg_sq[i] = v
        if amsgrad:
            v = largest(maxima[i], v)
            maxima[i] = v
        param[i] = param[i] * keep + -rate * m / (np.sqrt(v) / root + eps)


def sgd(param, grad, momentum_buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    """One step of gradient descent, in place; the formula stands in `plain.sgd`."""
    if not _in_place(param, grad, param if momentum_buffer is None else momentum_buffer):
        plain.sgd(param, grad, momentum_buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first)
        return
    buffer = NOTHING[param.dtype] if momentum_buffer is None else momentum_buffer.ravel()
    sgd_block(
        blocks_of(param.size),
        param.size,
        param.ravel(),
        grad.ravel(),
        buffer,
        -1.0 if maximize else 1.0,
        lr,
        momentum,
        1 - dampening,
        weight_decay,
        bool(nesterov),
        bool(first),
    )


def adam(
    param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize
):
    """One step of Adam, or of AdamW where `decoupled`, in place; the formula stands in `plain.adam`."""
    if not _in_place(param, grad, exp_avg, exp_avg_sq, param if max_exp_avg_sq is None else max_exp_avg_sq):
        plain.adam(
            param,
            grad,
            exp_avg,
            exp_avg_sq,
            max_exp_avg_sq,
            step,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            decoupled,
            maximize,
        )
        return
    maxima = NOTHING[param.dtype] if max_exp_avg_sq is None else max_exp_avg_sq.ravel()
    adam_block(
        blocks_of(param.size),
        2 * param.size,
        param.ravel(),
        grad.ravel(),
        exp_avg.ravel(),
        exp_avg_sq.ravel(),
        maxima,
        -1.0 if maximize else 1.0,
        1 - lr * weight_decay if decoupled else 1.0,
        0.0 if decoupled else weight_decay,
        1 - beta1,
        beta2,
        1 - beta2,
        math.sqrt(1 - beta2**step),
        eps,
        lr / (1 - beta1**step),
    )


def _in_place(param, *arrays):
    """Whether all have one dtype and flat views, so that compiled code can write to them."""
    dtype = param.dtype
    if not param.flags.c_contiguous:
        return False
    for x in arrays:
        if x.dtype != dtype or not x.flags.c_contiguous:
            return False
    return True
