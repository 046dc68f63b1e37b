"""Updates of parameters, in place.

Sources: Kingma, Ba, "Adam" (2015), algorithm 1; Loshchilov, Hutter, "Decoupled Weight Decay Regularization"
(2019); Reddi, Kale, Kumar, "On the Convergence of Adam and Beyond" (2018) for `max_exp_avg_sq`; Sutskever et
al., "On the importance of initialization and momentum" (2013) for Nesterov. The order of operations is
PyTorch's, so that roundings agree.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from badak.kernels.plain._arrays import Array, array_namespace, quiet


@quiet
def sgd(
    param: Array,
    grad: Array,
    momentum_buffer: Array | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> None:
    """One step of gradient descent, in place.

    g = ±grad + weight_decay param
    m = momentum m + (1 - dampening) g        (m = g at the first step)
    param -= lr (g + momentum m if nesterov else m)        without a buffer: param -= lr g
    """
    g = -grad if maximize else grad
    if weight_decay != 0:
        g = g + weight_decay * param
    if momentum_buffer is not None:
        if first:
            momentum_buffer[...] = g
        else:
            momentum_buffer *= momentum
            momentum_buffer += (1 - dampening) * g
        g = g + momentum * momentum_buffer if nesterov else momentum_buffer
    param -= lr * g


def sgd_all(
    params: Sequence[Array],
    grads: Sequence[Array],
    momentum_buffers: Sequence[Array] | None,
    firsts: Sequence[bool],
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    memo: dict[str, Any],
) -> None:
    """`sgd` of many parameters of one dtype. `memo` is empty at first and the caller's: what a set keeps between two steps."""
    buffers = momentum_buffers or [None] * len(params)
    for param, grad, buffer, first in zip(params, grads, buffers, firsts):
        sgd(param, grad, buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first)


@quiet
def adam(
    param: Array,
    grad: Array,
    exp_avg: Array,
    exp_avg_sq: Array,
    max_exp_avg_sq: Array | None,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> None:
    """One step of Adam, or of AdamW where `decoupled`; `step` counts from 1.

        decoupled: param -= lr weight_decay param        else: g = ±grad + weight_decay param
        m += (1 - beta1) (g - m)        v = beta2 v + (1 - beta2) g^2
        param -= lr / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + eps)

    eps stands outside the root and inside the correction (PyTorch's place). With `max_exp_avg_sq` (amsgrad),
    v in the last line is the largest v so far.
    """
    xp = array_namespace(param)
    g = -grad if maximize else grad
    if weight_decay != 0:
        if decoupled:
            param *= 1 - lr * weight_decay
        else:
            g = g + weight_decay * param
    if 1 - beta1 < 0.5:  # the two forms of a linear interpolation that PyTorch chooses between
        exp_avg += (1 - beta1) * (g - exp_avg)
    else:
        exp_avg[...] = g - (g - exp_avg) * beta1
    exp_avg_sq *= beta2
    exp_avg_sq += (1 - beta2) * g * g
    v = exp_avg_sq
    if max_exp_avg_sq is not None:
        xp.maximum(max_exp_avg_sq, exp_avg_sq, out=max_exp_avg_sq)
        v = max_exp_avg_sq
    denominator = xp.sqrt(v) / math.sqrt(1 - beta2**step) + eps
    param += (-lr / (1 - beta1**step)) * exp_avg / denominator


def adam_all(
    params: Sequence[Array],
    grads: Sequence[Array],
    exp_avgs: Sequence[Array],
    exp_avg_sqs: Sequence[Array],
    max_exp_avg_sqs: Sequence[Array] | None,
    steps: Sequence[int],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
    memo: dict[str, Any],
) -> None:
    """`adam` of many parameters of one dtype. `memo` is empty at first and the caller's: what a set keeps between two steps."""
    maxima = max_exp_avg_sqs or [None] * len(params)
    for arrays in zip(params, grads, exp_avgs, exp_avg_sqs, maxima, steps):
        adam(*arrays, lr, beta1, beta2, eps, weight_decay, decoupled, maximize)


def adam_kept(memo: dict[str, Any]) -> Callable[..., None] | None:
    """prepare(steps, lr, beta1, beta2, weight_decay, decoupled) for the last call of `adam_all`, the one of this memo: let it do
    these steps, on the gradients that it had, when it is played again. None where no call can be kept, as in this set."""
    return None
