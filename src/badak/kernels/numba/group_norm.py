"""Group normalisation: a group of channels is a row, which is worked on in cache."""

import math

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import contiguous, rows_per_block
from badak.kernels.numba.casts import vector_or
from badak.kernels.numba.layer_norm import moments_of
from badak.kernels.numba.reductions import summed
from badak.kernels.numba.simd.channels import affine_row, leaning_in
from badak.kernels.numba.simd.rows import total_in
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.reference.layer_norm import rounding


@parallel("W2 Wf1 Wf1 R2 Rf1 Rf1 f f i i")
def group_norm_rows(task, y, mean, rstd, x, w, b, eps, rough, groups, step):
    """y = w (x - mean) rstd + b, mean and rstd (N G,) for `step` rows of x (N G, C / G S); w and b (C,)."""
    each = w.size // groups
    places = x.shape[1] // each
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        m, r = moments_of(x[row], eps, rough)
        mean[row], rstd[row] = m, r
        for k in range(each):
            c, first, last = row % groups * each + k, k * places, (k + 1) * places
            affine_row(y[row, first:last], x[row, first:last], m, r * w[c], b[c])


@parallel("W2 Wf2 Wf2 R2 R2 Rf1 Rf1 Rf1 i i")
def group_norm_backward_rows(task, dx, dw_parts, db_parts, dy, x, w, mean, rstd, groups, step):
    """dx (N G, C / G S) for `step` rows, and their sums dw_parts, db_parts (N, C) over the places of a channel.

    With h = (x - mean) rstd and g = w dy:   dx = rstd (g - mean(g) - h mean(g h))   dw = sum dy h   db = sum dy
    """
    each = w.size // groups
    places = x.shape[1] // each
    share = x.dtype.type(1 / max(x.shape[1], 1))
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        m, r = mean[row], rstd[row]
        n, group = divmod(row, groups)
        sum_g, sum_gh = x.dtype.type(0), x.dtype.type(0)
        for k in range(each):
            c, first, last = group * each + k, k * places, (k + 1) * places
            total = total_in(dy[row, first:last])
            slope = leaning_in(dy[row, first:last], x[row, first:last], m) * r
            dw_parts[n, c], db_parts[n, c] = slope, total
            sum_g += w[c] * total
            sum_gh += w[c] * slope
        shift, lean = r * sum_g * share, r * r * sum_gh * share
        for k in range(each):
            scale, first, last = r * w[group * each + k], k * places, (k + 1) * places
            for i in range(first, last):
                dx[row, i] = dy[row, i] * scale - shift - (x[row, i] - m) * lean


def group_norm(x, w, b, groups, eps):
    """y, mean, rstd; see `reference.group_norm`."""
    number, channels, rows = value_dtype(x.dtype), x.shape[1], _by_group(x, groups)
    y, mean, rstd = np.empty(rows.shape, x.dtype), np.empty(len(rows), number), np.empty(len(rows), number)
    w, b = vector_or(1, w, channels, number), vector_or(0, b, channels, number)
    step = rows_per_block(rows.shape[1])
    rough = rounding(rows.shape[1], number)
    group_norm_rows(-(-len(rows) // step), x.size, y, mean, rstd, rows, w, b, eps, rough, groups, step)
    return y.reshape(x.shape), mean.reshape(len(x), groups), rstd.reshape(len(x), groups)


def group_norm_backward(dy, x, w, mean, rstd, needs):
    """dx, dw, db; see `reference.group_norm_backward` for the derivation."""
    number, kind, groups = value_dtype(x.dtype), None if w is None else w.dtype, mean.shape[1]
    rows, given = _by_group(x, groups), _by_group(dy, groups)
    dx = np.empty(rows.shape, x.dtype)
    dw, db = np.empty(x.shape[:2], number), np.empty(x.shape[:2], number)
    w = vector_or(1, w, x.shape[1], number)
    step = rows_per_block(rows.shape[1])
    tasks = -(-len(rows) // step)
    group_norm_backward_rows(tasks, 2 * x.size, dx, dw, db, given, rows, w, mean.ravel(), rstd.ravel(), groups, step)
    return (
        dx.reshape(x.shape) if needs[0] else None,
        summed(dw, kind) if needs[1] else None,
        summed(db, kind) if needs[2] else None,
    )


def _by_group(x, groups):
    """x (N, C, ...) as (N G, C / G S), row-major."""
    return contiguous(x).reshape(x.shape[0] * groups, x.shape[1] // groups * math.prod(x.shape[2:]))
