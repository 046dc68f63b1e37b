"""Cross entropy of logits with class ids. The soft targets and `nll` are those of `plain`: rare, or a mere look-up."""

import math

import numpy as np

from badak.errors import RangeError
from badak.kernels.fast._blocks import as_rows, rows_per_block
from badak.kernels.fast._jit import largest, minus
from badak.kernels.fast._math import exp
from badak.kernels.fast._parallel import parallel


@parallel("W1 W1 R2 Ri1 R1 i f i")
def cross_entropy_rows(task, loss, lse, logits, target, weight, ignore_index, smoothing, rows):
    """loss (N,), lse (N,) for `rows` rows of logits (N, V); weight (V,), or empty for ones.

    loss = -(1 - e) w[t] logp[t] - e/V sum_v w[v] logp[v],    logp = (logits - max) - log sum exp(logits - max)
    """
    n_rows, classes = logits.shape
    zero, one = logits.dtype.type(0), logits.dtype.type(1)
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        x, t = logits[n], target[n]
        top, total = logits.dtype.type(-np.inf), zero
        for v in range(classes):
            top = largest(top, x[v])
        for v in range(classes):
            total += exp(x[v] - top)
        log_total = logits.dtype.type(math.log(total))
        lse[n] = top + log_total
        if t == ignore_index:
            loss[n] = zero
            continue
        value = minus(log_total, minus(x[t], top))  # x - top rounded first: log_total + top would lose digits
        if weight.size:
            value *= weight[t]
        if smoothing > zero:
            spread = zero
            for v in range(classes):
                spread += minus(log_total, minus(x[v], top)) * (weight[v] if weight.size else one)
            value = (one - smoothing) * value + smoothing / logits.dtype.type(classes) * spread
        loss[n] = value


@parallel("W2 R1 R2 Ri1 R1 R1 i f i")
def cross_entropy_backward_rows(task, dlogits, dloss, logits, target, lse, weight, ignore_index, smoothing, rows):
    """dlogits = dloss (softmax sum_u c[u] - c),  c[v] = (1 - e) w[v] [v = t] + e/V w[v],  for `rows` rows.

    softmax = exp(logits - lse) over its own sum, so that the rounding of a large lse cancels.
    """
    n_rows, classes = logits.shape
    zero, one = logits.dtype.type(0), logits.dtype.type(1)
    weights = logits.dtype.type(classes)
    if weight.size:
        weights = zero
        for v in range(classes):
            weights += weight[v]
    share = smoothing / logits.dtype.type(max(classes, 1))
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        x, dx, t, shift = logits[n], dlogits[n], target[n], lse[n]
        if t == ignore_index:
            dx[:] = zero
            continue
        total = zero
        for v in range(classes):
            e = exp(x[v] - shift)
            dx[v] = e
            total += e
        picked = (one - smoothing) * (weight[t] if weight.size else one)
        scale = dloss[n] * (picked + share * weights) / total
        for v in range(classes):
            dx[v] *= scale
        if share > zero:
            for v in range(classes):
                dx[v] -= dloss[n] * share * (weight[v] if weight.size else one)
        dx[t] -= dloss[n] * picked


def cross_entropy(logits, target, weight=None, ignore_index=-100, smoothing=0.0):
    """loss (N,), lse (N,).    logits (N, V), target int (N,), weight (V,) or None."""
    logits = as_rows(logits)
    loss, lse = np.empty(len(logits), logits.dtype), np.empty(len(logits), logits.dtype)
    step = rows_per_block(logits.shape[1])
    cross_entropy_rows(
        -(-len(logits) // step),
        1.5 * logits.size,
        loss,
        lse,
        logits,
        _checked(target, logits.shape[1], ignore_index),
        _weight(weight, logits),
        ignore_index,
        smoothing,
        step,
    )
    return loss, lse


def cross_entropy_backward(dloss, logits, target, lse, weight, ignore_index, smoothing):
    """dlogits (N, V).    dloss (N,), the rows already scaled by the reduction."""
    logits = as_rows(logits)
    dlogits = np.empty(logits.shape, logits.dtype)
    step = rows_per_block(logits.shape[1])
    cross_entropy_backward_rows(
        -(-len(logits) // step),
        2 * logits.size,
        dlogits,
        np.ascontiguousarray(dloss),
        logits,
        _checked(target, logits.shape[1], ignore_index),
        np.ascontiguousarray(lse),
        _weight(weight, logits),
        ignore_index,
        smoothing,
        step,
    )
    return dlogits


def _weight(weight, logits):
    return np.empty(0, logits.dtype) if weight is None else np.ascontiguousarray(weight, logits.dtype)


def _checked(target, classes, ignore_index):
    """target as contiguous int64, each in 0 .. classes - 1 or `ignore_index`: compiled code does not check."""
    target = np.ascontiguousarray(target, np.int64)
    if target.size and (target.min() < 0 or target.max() >= classes):
        wrong = target[((target < 0) | (target >= classes)) & (target != ignore_index)]
        if wrong.size:
            raise RangeError(
                f"cross_entropy: expected targets in 0 .. {classes - 1} or ignore_index={ignore_index}; got {wrong[0]}",
                "labels from 0, and as many logits as there are classes",
            )
    return target
