"""Softmax and its logarithm over the last axis: each row is read from memory once."""

import math

import numpy as np

from badak.kernels.numba._blocks import as_rows, rows_per_block
from badak.kernels.numba.codegen.bfloat16 import room_for, unrounded
from badak.kernels.numba.simd.functions import exp
from badak.kernels.numba.simd.rows import exp_row, exp_total, largest_in, products_in, scaled_row, shifted_row, total_in
from badak.kernels.numba.threadpool.parallel import parallel


@parallel("W2 R2 i")
def softmax_rows(task, y, x, rows):
    """y = exp(x - max) / sum_c exp(x - max) for `rows` rows. A row of -inf gives NaN: -inf - -inf."""
    one = x.dtype.type(1)
    room = room_for(y)
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        made = unrounded(room, y[n])
        total = exp_row(made, x[n], largest_in(x[n]))
        scaled_row(y[n], made, one / total)


@parallel("W2 R2 R2 i")
def softmax_backward_rows(task, dx, dy, y, rows):
    """dx = y (dy - sum_c dy y) for `rows` rows."""
    n_rows, channels = y.shape
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        dot = products_in(dy[n], y[n])
        for c in range(channels):
            dx[n, c] = y[n, c] * (dy[n, c] - dot)


@parallel("W2 R2 i")
def log_softmax_rows(task, y, x, rows):
    """y = (x - max) - log sum_c exp(x - max) for `rows` rows."""
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        top = largest_in(x[n])
        log_total = x.dtype.type(math.log(exp_total(x[n], top)))
        shifted_row(y[n], x[n], top, log_total)  # x - top is rounded first: as x - (top + log_total), digits would be lost


@parallel("W2 R2 R2 i")
def log_softmax_backward_rows(task, dx, dy, y, rows):
    """dx = dy - exp(y) sum_c dy for `rows` rows."""
    n_rows, channels = y.shape
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        total = total_in(dy[n])
        for c in range(channels):
            dx[n, c] = dy[n, c] - exp(y[n, c]) * total


def _by_rows(kernel, cost, *arrays):
    """A fresh result of the first array's shape with kernel(result, *arrays) done by rows of the last axis."""
    first = arrays[0]
    rows = [as_rows(x) for x in arrays]
    n, channels = rows[0].shape
    result = np.empty((n, channels), first.dtype)
    step = rows_per_block(channels)
    kernel(-(-n // step), first.size * cost, result, *rows, step)
    return result.reshape(first.shape)


def softmax(x):
    """y = exp(x) / sum_c exp(x).    x (..., C) -> (..., C); a row of -inf gives NaN."""
    return _by_rows(softmax_rows, 1.5, x)


def softmax_backward(dy, y):
    """dx = y (dy - sum_c dy y)."""
    return _by_rows(softmax_backward_rows, 0.5, dy, y)


def log_softmax(x):
    """y = x - log sum_c exp(x).    x (..., C) -> (..., C)."""
    return _by_rows(log_softmax_rows, 1.5, x)


def log_softmax_backward(dy, y):
    """dx = dy - exp(y) sum_c dy."""
    return _by_rows(log_softmax_backward_rows, 1, dy, y)
