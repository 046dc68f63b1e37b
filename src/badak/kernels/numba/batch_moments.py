"""Mean and variance of each channel: of parts of it, each in cache, and then of these. `_channels.py` says what lines are."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import rows_per_block
from badak.kernels.numba._channels import IMAGES, TOGETHER, lines_of, rows_of_part
from badak.kernels.numba.reductions import sum_rows
from badak.kernels.numba.simd.rows import squares_in, total_in
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact


@parallel("Wf1 Wf1 R2 i")
def image_moments(task, means, squares, x, step):
    """mean, and sum of (x - mean)^2, of `step` rows of x (N C, S)."""
    share = x.dtype.type(1 / x.shape[1])
    for row in range(task * step, min((task + 1) * step, x.shape[0])):
        m = total_in(x[row]) * share
        means[row], squares[row] = m, squares_in(x[row], m)


@parallel("Wf2 Wf2 R2 i")
def column_moments(task, means, squares, x, rows):
    """As `image_moments`, of each column of part `task`, `rows` rows of x (M, K)."""
    first, last = task * rows, min((task + 1) * rows, x.shape[0])
    mean, square = means[task], squares[task]
    sum_rows(mean, x, first, last)
    share = x.dtype.type(1 / (last - first))
    for c in range(mean.size):
        mean[c] *= share
        square[c] = x.dtype.type(0)
    for n in range(first, last):
        for c in range(mean.size):
            d = x[n, c] - mean[c]
            square[c] += d * d


@parallel_exact("W1 W1 W1 R2 R2 i i i i")
def pooled_moments(task, mean, var, unbiased, means, squares, rows, count, group, step):
    """mean, var and unbiased var (C,) of the moments (P, C group) of parts of `rows` rows, `count` in all, in float64.

    With n[p] rows in part p:   mean = sum n[p] mean[p] / sum n[p],   var = sum (square[p] + n[p] (mean[p] - mean)^2) / sum n[p]
    """
    first, last = task * step, min((task + 1) * step, mean.size)
    total = np.zeros((last - first) * group)
    begin = first * group
    for p in range(means.shape[0]):
        n = min(rows, count - p * rows)
        for k in range(total.size):
            total[k] += n * np.float64(means[p, begin + k])
    middle = np.zeros(last - first)
    for c in range(middle.size):
        for k in range(group):
            middle[c] += total[c * group + k]
        middle[c] /= count * group
        for k in range(group):
            total[c * group + k] = 0
    for p in range(means.shape[0]):
        n = min(rows, count - p * rows)
        for c in range(middle.size):
            for k in range(c * group, (c + 1) * group):
                d = np.float64(means[p, begin + k]) - middle[c]
                total[k] += np.float64(squares[p, begin + k]) + n * d * d
    for c in range(middle.size):
        spread = 0.0
        for k in range(group):
            spread += total[c * group + k]
        mean[first + c], var[first + c] = middle[c], spread / (count * group)
        unbiased[first + c] = spread / max(count * group - 1, 1)


def batch_moments(x):
    """mean, var and unbiased var (C,) of the channels of x (N, C, ...); see `reference.batch_moments`."""
    number, channels = value_dtype(x.dtype), x.shape[1]
    mean, var, unbiased = np.empty(channels, number), np.empty(channels, number), np.empty(channels, number)
    if not x.size:
        mean[:] = var[:] = unbiased[:] = 0
        return mean, var, unbiased
    lines, group = lines_of(x)
    count, rows = lines.shape[0], rows_of_part(lines)
    if group == IMAGES:
        means, squares = np.empty((x.shape[0], channels), number), np.empty((x.shape[0], channels), number)
        step = rows_per_block(lines.shape[1])
        image_moments(-(-count // step), x.size, means.reshape(-1), squares.reshape(-1), lines, step)
        rows, count, group = lines.shape[1], lines.size // channels, 1
    else:
        parts = -(-count // rows)
        means, squares = np.empty((parts, lines.shape[1]), number), np.empty((parts, lines.shape[1]), number)
        column_moments(parts, x.size, means, squares, lines, rows)
    tasks = -(-channels // TOGETHER)
    pooled_moments(tasks, 4 * means.size, mean, var, unbiased, means, squares, rows, count, group, TOGETHER)
    return mean, var, unbiased
