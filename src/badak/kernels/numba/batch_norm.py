"""Batch normalisation by given statistics, and back. `_channels.py` says what lines are."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import rows_per_block
from badak.kernels.numba._channels import IMAGES, TOGETHER, lines_of, of_lines, rows_of_part
from badak.kernels.numba.casts import cast, vector, vector_or
from badak.kernels.numba.codegen.floats import over_root
from badak.kernels.numba.reductions import sum_rows
from badak.kernels.numba.simd.channels import affine_row, back_row, leaning_in
from badak.kernels.numba.simd.rows import total_in
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact


@parallel("W2 R2 Rf1 Rf1 Rf1 Rf1 f i")
def normal_images(task, y, x, mean, var, w, b, eps, step):
    """y = w (x - mean) / sqrt(var + eps) + b for `step` rows of x (N C, S)."""
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        c = row % mean.size
        affine_row(y[row], x[row], mean[c], over_root(var[c] + eps) * w[c], b[c])


@parallel("W2 R2 Rf1 Rf1 Rf1 Rf1 f i i")
def normal_columns(task, y, x, mean, var, w, b, eps, group, rows):
    """As `normal_images`, for `rows` rows of x (M, C group)."""
    width = x.shape[1]
    m, scale, shift = np.empty(width, mean.dtype), np.empty(width, mean.dtype), np.empty(width, mean.dtype)
    for c in range(mean.size):
        factor = over_root(var[c] + eps) * w[c]
        for k in range(c * group, (c + 1) * group):
            m[k], scale[k], shift[k] = mean[c], factor, b[c]
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        for k in range(width):
            y[n, k] = (x[n, k] - m[k]) * scale[k] + shift[k]


@parallel("Wf1 Wf1 R2 R2 Rf1 i")
def image_slopes(task, totals, slopes, dy, x, mean, step):
    """sum dy, and sum dy (x - mean), of `step` rows of x (N C, S)."""
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        totals[row], slopes[row] = total_in(dy[row]), leaning_in(dy[row], x[row], mean[row % mean.size])


@parallel("Wf2 Wf2 R2 R2 Rf1 i i")
def column_slopes(task, totals, slopes, dy, x, mean, group, rows):
    """As `image_slopes`, of each column of part `task`, `rows` rows of x (M, C group)."""
    first, last = task * rows, min((task + 1) * rows, x.shape[0])
    total, slope, m = totals[task], slopes[task], np.empty(x.shape[1], mean.dtype)
    for k in range(m.size):
        m[k], slope[k] = mean[k // group], x.dtype.type(0)
    sum_rows(total, dy, first, last)
    for n in range(first, last):
        for k in range(m.size):
            slope[k] += dy[n, k] * (x[n, k] - m[k])


@parallel_exact("W1 W1 R2 R2 R1 f i i")
def pooled_slopes(task, dw, db, slopes, totals, var, eps, group, step):
    """dw = sum of slopes / sqrt(var + eps) and db = sum of totals, of `step` channels of (P, C group), in float64."""
    first, last = task * step, min((task + 1) * step, dw.size)
    slope, total = np.zeros((last - first) * group), np.zeros((last - first) * group)
    for p in range(slopes.shape[0]):
        for k in range(slope.size):
            slope[k] += np.float64(slopes[p, first * group + k])
            total[k] += np.float64(totals[p, first * group + k])
    for c in range(first, last):
        lean, shift = 0.0, 0.0
        for k in range((c - first) * group, (c - first + 1) * group):
            lean += slope[k]
            shift += total[k]
        dw[c], db[c] = lean / np.sqrt(np.float64(var[c]) + np.float64(eps)), shift


@parallel("W2 R2 R2 Rf1 Rf1 Rf1 Rf1 Rf1 f f i")
def back_images(task, dx, dy, x, mean, var, w, dw, db, eps, share, step):
    """dx = w rstd (dy - db / M - (x - mean) rstd dw / M) for `step` rows of x (N C, S); share: 1 / M."""
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        c = row % mean.size
        rstd = over_root(var[c] + eps)
        back_row(dx[row], dy[row], x[row], mean[c], db[c] * share, -(rstd * dw[c] * share), rstd * w[c])


@parallel("W2 R2 R2 Rf1 Rf1 Rf1 Rf1 Rf1 f f i i")
def back_columns(task, dx, dy, x, mean, var, w, dw, db, eps, share, group, rows):
    """As `back_images`, for `rows` rows of x (M, C group)."""
    width, kind = x.shape[1], mean.dtype
    m, shift, lean, scale = np.empty(width, kind), np.empty(width, kind), np.empty(width, kind), np.empty(width, kind)
    for c in range(mean.size):
        rstd = over_root(var[c] + eps)
        for k in range(c * group, (c + 1) * group):
            m[k], shift[k], lean[k], scale[k] = mean[c], db[c] * share, rstd * dw[c] * share, rstd * w[c]
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        for k in range(width):
            dx[n, k] = (dy[n, k] - shift[k] - (x[n, k] - m[k]) * lean[k]) * scale[k]


def batch_norm(x, w, b, mean, var, eps):
    """y (N, C, ...); see `reference.batch_norm`."""
    number, channels = value_dtype(x.dtype), x.shape[1]
    lines, group = lines_of(x)
    w, b = vector_or(1, w, channels, number), vector_or(0, b, channels, number)
    return of_lines(_normal(lines, group, vector(mean, number), vector(var, number), w, b, eps), x)


def _normal(lines, group, mean, var, w, b, eps):
    y = np.empty(lines.shape, lines.dtype)
    if lines.size:
        rows = rows_per_block(lines.shape[1])
        tasks = -(-lines.shape[0] // rows)
        if group == IMAGES:
            normal_images(tasks, lines.size // 2, y, lines, mean, var, w, b, eps, rows)
        else:
            normal_columns(tasks, lines.size // 2, y, lines, mean, var, w, b, eps, group, rows)
    return y


def batch_norm_backward(dy, x, w, mean, var, eps, moving, needs):
    """dx, dw, db; see `reference.batch_norm_backward` for the derivation."""
    number, channels, kind = value_dtype(x.dtype), x.shape[1], None if w is None else w.dtype
    (lines, group), (given, _) = lines_of(x), lines_of(dy, x)
    mean, var = vector(mean, number), vector(var, number)
    w = vector_or(1, w, channels, number)
    dw = db = dx = None
    if moving or needs[1] or needs[2]:
        dw, db = _sums(given, lines, group, mean, var, eps)
    if needs[0] and moving and lines.size:
        dx, share, rows = np.empty(lines.shape, lines.dtype), channels / lines.size, rows_per_block(lines.shape[1])
        tasks = -(-lines.shape[0] // rows)
        if group == IMAGES:
            back_images(tasks, lines.size, dx, given, lines, mean, var, w, dw, db, eps, share, rows)
        else:
            back_columns(tasks, lines.size, dx, given, lines, mean, var, w, dw, db, eps, share, group, rows)
        dx = of_lines(dx, x)
    elif needs[0]:
        nothing = np.zeros(channels, number)
        dx = of_lines(_normal(given, group, nothing, var, w, nothing, eps), x)
    kind = kind or number
    return dx, cast(dw, kind) if needs[1] else None, cast(db, kind) if needs[2] else None


def _sums(dy, x, group, mean, var, eps):
    """dw and db (C,) of lines dy and x."""
    channels, number = mean.size, mean.dtype
    dw, db = np.empty(channels, number), np.empty(channels, number)
    if not x.size:
        dw[:] = db[:] = 0
        return dw, db
    if group == IMAGES:
        step, shape, of_one = rows_per_block(x.shape[1]), (x.shape[0] // channels, channels), 1
        slopes, totals = np.empty(shape, number), np.empty(shape, number)
        image_slopes(-(-x.shape[0] // step), x.size, totals.reshape(-1), slopes.reshape(-1), dy, x, mean, step)
    else:
        rows, of_one = rows_of_part(x), group
        parts = -(-x.shape[0] // rows)
        slopes, totals = np.empty((parts, x.shape[1]), number), np.empty((parts, x.shape[1]), number)
        column_slopes(parts, x.size, totals, slopes, dy, x, mean, group, rows)
    pooled_slopes(-(-channels // TOGETHER), slopes.size, dw, db, slopes, totals, var, eps, of_one, TOGETHER)
    return dw, db
