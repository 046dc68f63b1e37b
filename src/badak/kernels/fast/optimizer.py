"""Updates of parameters: one pass over memory, one call for all. Rounded operation by operation in PyTorch's order, with its
fused adds."""

import math

import numpy as np

from badak.kernels import plain
from badak.kernels.fast._blocks import NOTHING
from badak.kernels.fast._jit import fma, largest
from badak.kernels.fast._parallel import parallel_exact
from badak.kernels.fast._tables import GRAD, PARAM, part, table_of


@parallel_exact("R1 Ri2 Ri1 R?1 f f f f f ? ?")
def sgd_block(task, like, rows, owner, firsts, sign, lr, momentum, rest, decay, nesterov, remembers):
    """g = sign grad + decay param;  m = momentum m + rest g (g at the first step);  param -= lr (g + momentum m, or m, or g).

    rows, owner: a `Table` of (param, m), m only if it `remembers`. firsts (P,): whether it is the first step of a parameter.
    """
    row = owner[task]
    if rows[row, GRAD] == 0:
        return
    param, grad = part(task, rows, row, PARAM, like), part(task, rows, row, GRAD, like)
    if not remembers:
        for i in range(param.size):
            param[i] = fma(-lr, fma(decay, param[i], sign * grad[i]), param[i])
        return
    buffer, first = part(task, rows, row, PARAM + 1, like), firsts[row]
    for i in range(param.size):
        g = fma(decay, param[i], sign * grad[i])
        m = g if first else fma(rest, g, buffer[i] * momentum)
        buffer[i] = m
        param[i] = fma(-lr, fma(momentum, m, g) if nesterov else m, param[i])


@parallel_exact("R2 Ri2 Ri1 f f f f f f ?")
def adam_block(task, factors, rows, owner, sign, decay, rest1, beta2, rest2, eps, amsgrad):
    """g = sign grad + decay param;  param *= keep;  m += rest1 (g - m);  v = beta2 v + rest2 g^2;
    param -= rate m / (sqrt(v) / root + eps), where amsgrad takes the largest v so far.

    rows, owner: a `Table` of (param, m, v, largest v). factors (P, 3): root, rate and keep of each parameter at this step.
    """
    row = owner[task]
    if rows[row, GRAD] == 0:
        return
    root, rate, keep = factors[row, 0], factors[row, 1], factors[row, 2]
    param, grad = part(task, rows, row, PARAM, factors), part(task, rows, row, GRAD, factors)
    exp_avg, exp_avg_sq = part(task, rows, row, PARAM + 1, factors), part(task, rows, row, PARAM + 2, factors)
    maxima = part(task, rows, row, PARAM + 3 if amsgrad else PARAM, factors)
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
    buffers = None if momentum_buffer is None else [momentum_buffer]
    sgd_all([param], [grad], buffers, [first], lr, momentum, dampening, weight_decay, nesterov, maximize, {})


def sgd_all(params, grads, momentum_buffers, firsts, lr, momentum, dampening, weight_decay, nesterov, maximize, memo):
    """`sgd` of many parameters in one call; see `plain.sgd_all`."""
    remembers = momentum_buffers is not None
    table = table_of(memo, [params, momentum_buffers] if remembers else [params])
    left = table.take(grads)
    sgd_block(
        len(table.owner),
        table.size // 4,
        NOTHING[table.dtype],
        table.rows,
        table.owner,
        np.array(firsts, bool),
        -1.0 if maximize else 1.0,
        lr,
        momentum,
        1 - dampening,
        weight_decay,
        bool(nesterov),
        remembers,
    )
    one = sgd if len(params) > 1 else plain.sgd
    for row in left:
        buffer = momentum_buffers[row] if remembers else None
        one(params[row], grads[row], buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, firsts[row])


def adam(
    param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize
):
    """One step of Adam, or of AdamW where `decoupled`, in place; the formula stands in `plain.adam`."""
    maxima = None if max_exp_avg_sq is None else [max_exp_avg_sq]
    settings = lr, beta1, beta2, eps, weight_decay, decoupled, maximize
    adam_all([param], [grad], [exp_avg], [exp_avg_sq], maxima, [step], *settings, {})


def adam_all(
    params,
    grads,
    exp_avgs,
    exp_avg_sqs,
    max_exp_avg_sqs,
    steps,
    lr,
    beta1,
    beta2,
    eps,
    weight_decay,
    decoupled,
    maximize,
    memo,
):
    """`adam` of many parameters in one call; see `plain.adam_all`."""
    amsgrad = max_exp_avg_sqs is not None
    columns = [params, exp_avgs, exp_avg_sqs]
    table = table_of(memo, [*columns, max_exp_avg_sqs] if amsgrad else columns)
    left = table.take(grads)
    if len(memo.get("factors", ())) != len(params):
        memo["factors"] = np.empty((len(params), 3), table.dtype)
    factors = memo["factors"]  # one array at every step, so that a call can be kept
    _set_factors(factors, steps, lr, beta1, beta2, weight_decay if decoupled else 0)
    memo["kept call fits"] = not left
    adam_block(
        len(table.owner),
        table.size // 2,
        factors,
        table.rows,
        table.owner,
        -1.0 if maximize else 1.0,
        0.0 if decoupled else weight_decay,
        1 - beta1,
        beta2,
        1 - beta2,
        eps,
        amsgrad,
    )
    one = adam if len(params) > 1 else plain.adam
    for row in left:
        largest_sq = max_exp_avg_sqs[row] if amsgrad else None
        arrays = params[row], grads[row], exp_avgs[row], exp_avg_sqs[row], largest_sq
        one(*arrays, steps[row], lr, beta1, beta2, eps, weight_decay, decoupled, maximize)


def _set_factors(factors, steps, lr, beta1, beta2, decoupled_decay):
    """For every parameter's step t: the root sqrt(1 - beta2^t), the rate lr / (1 - beta1^t), and 1 - lr decay."""
    keep = 1 - lr * decoupled_decay
    of_step = {step: (math.sqrt(1 - beta2**step), lr / (1 - beta1**step), keep) for step in set(steps)}
    factors[:] = of_step[steps[0]] if len(of_step) == 1 else [of_step[step] for step in steps]


def adam_kept(memo):
    """A function that prepares the last call of `adam_all` for being played again; see `plain.adam_kept`."""
    if not memo.get("kept call fits"):
        return None
    table, factors = memo["table"], memo["factors"]
    grads = table.rows[:, GRAD].copy()  # other calls on the same table have other gradients

    def prepare(steps, lr, beta1, beta2, weight_decay, decoupled):
        table.rows[:, GRAD] = grads
        _set_factors(factors, steps, lr, beta1, beta2, weight_decay if decoupled else 0)

    return prepare
