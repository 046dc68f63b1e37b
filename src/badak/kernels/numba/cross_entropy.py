"""Cross entropy of logits with class ids. The soft targets and `nll` are those of `reference`: rare, or a mere look-up."""

import math

import numpy as np

from badak.core.errors import IndexOutOfRangeError, tr
from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import NOTHING, as_rows, rows_per_block
from badak.kernels.numba.casts import vector
from badak.kernels.numba.codegen.bfloat16 import room_for, rounded, unrounded
from badak.kernels.numba.codegen.floats import minus
from badak.kernels.numba.simd.rows import exp_row, exp_total, largest_in, scaled_row
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact


@parallel("Wf1 Wf1 R2 Ri1 Rf1 i f i Ei1")
def cross_entropy_rows(task, loss, lse, logits, target, weight, ignore_index, smoothing, rows, wrong):
    """loss (N,), lse (N,) for `rows` rows of logits (N, V); weight (V,), or empty for ones.

    A target that is neither a class nor ignore_index sets wrong[0].

    loss = -(1 - e) w[t] logp[t] - e/V sum_v w[v] logp[v],    logp = (logits - max) - log sum exp(logits - max)
    """
    n_rows, classes = logits.shape
    zero, one = logits.dtype.type(0), logits.dtype.type(1)
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        x, t = logits[n], target[n]
        top = largest_in(x)
        log_total = logits.dtype.type(math.log(exp_total(x, top)))
        lse[n] = top + log_total
        if t == ignore_index:
            loss[n] = zero
            continue
        if t < 0 or t >= classes:
            wrong[0] = 1
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


@parallel("W2 Rf1 R2 Ri1 Rf1 Rf1 i f i Ei1")
def cross_entropy_backward_rows(task, dlogits, dloss, logits, target, lse, weight, ignore_index, smoothing, rows, wrong):
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
    room = room_for(dlogits)
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        x, t, shift = logits[n], target[n], lse[n]
        if t == ignore_index:
            dlogits[n, :] = zero
            continue
        if t < 0 or t >= classes:
            wrong[0] = 1
            continue
        dx = unrounded(room, dlogits[n])
        total = exp_row(dx, x, shift)
        picked = (one - smoothing) * (weight[t] if weight.size else one)
        scale = dloss[n] * (picked + share * weights) / total
        scaled_row(dx, dx, scale)
        if share > zero:
            for v in range(classes):
                dx[v] -= dloss[n] * share * (weight[v] if weight.size else one)
        dx[t] -= dloss[n] * picked
        rounded(dlogits[n], dx)


def cross_entropy(logits, target, weight=None, ignore_index=-100, smoothing=0.0):
    """loss (N,), lse (N,).    logits (N, V), target int (N,), weight (V,) or None."""
    logits, wrong = as_rows(logits), np.zeros(1, np.int64)
    n, classes = logits.shape
    number = value_dtype(logits.dtype)
    loss, lse = np.empty(n, number), np.empty(n, number)
    step, labels, w = rows_per_block(classes), np.ascontiguousarray(target, np.int64), _weight(weight, logits)
    cross_entropy_rows(-(-n // step), 1.5 * logits.size, loss, lse, logits, labels, w, ignore_index, smoothing, step, wrong)
    if wrong[0]:
        raise _out_of_range(target, classes, ignore_index)
    return loss, lse


def cross_entropy_backward(dloss, logits, target, lse, weight, ignore_index, smoothing, over_logits=False):
    """dlogits (N, V).    dloss (N,), the rows already scaled by the reduction. over_logits: where logits lie."""
    logits, wrong = as_rows(logits), np.zeros(1, np.int64)
    n, classes = logits.shape
    dlogits = logits if over_logits else np.empty((n, classes), logits.dtype)
    step, labels, w = rows_per_block(classes), np.ascontiguousarray(target, np.int64), _weight(weight, logits)
    dloss, lse, tasks = np.ascontiguousarray(dloss), np.ascontiguousarray(lse), -(-n // step)
    work = 2 * logits.size
    cross_entropy_backward_rows(tasks, work, dlogits, dloss, logits, labels, lse, w, ignore_index, smoothing, step, wrong)
    if wrong[0]:
        raise _out_of_range(target, classes, ignore_index)
    return dlogits


@parallel_exact("W1 W1 R1 Ri1 i ?")
def total_loss_alone(task, total, count, loss, target, ignore_index, mean):
    """total (1,) = sum of loss (N,) / count (1,): the rows that are not ignored where `mean`, at least 1; else 1."""
    double, seen = 0.0, 0
    for n in range(loss.size):
        double += loss[n]
        seen += target[n] != ignore_index
    divisor = max(seen, 1) if mean else 1
    count[0], total[0] = divisor, double / divisor


@parallel_exact("W1 R1 R1")
def spread_loss_alone(task, dloss, dy, count):
    """dloss (N,) = dy / count."""
    share = dy[0] / count[0]
    for n in range(dloss.size):
        dloss[n] = share


def total_loss(loss, target, ignore_index, mean):
    """total () and count (1,): the loss over the rows that are not ignored, as a mean or a sum."""
    total, count = np.empty((), loss.dtype), np.empty(1, loss.dtype)
    total_loss_alone(1, 0, total.reshape(1), count, loss, np.ascontiguousarray(target, np.int64), ignore_index, mean)
    return total, count


def spread_loss(dy, count, n):
    """dloss (n,) of every row from dy () of the total."""
    dloss = np.empty(n, dy.dtype)
    spread_loss_alone(1, 0, dloss, dy.reshape(1), count)
    return dloss


def _weight(weight, logits):
    number = value_dtype(logits.dtype)
    return NOTHING[number] if weight is None else vector(weight, number)


def _out_of_range(target, classes, ignore_index):
    wrong = target[((target < 0) | (target >= classes)) & (target != ignore_index)]
    cause = tr("cross_entropy: expected targets in 0 .. {} or ignore_index={}; got {}", classes - 1, ignore_index, wrong[0])
    return IndexOutOfRangeError(cause, "labels from 0, and as many logits as there are classes", code=11)
