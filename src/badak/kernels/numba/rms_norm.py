"""Root-mean-square normalisation: each row is read from memory once."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import as_rows, rows_per_block, rows_per_part
from badak.kernels.numba.casts import vector_or
from badak.kernels.numba.codegen.floats import over_root
from badak.kernels.numba.reductions import summed
from badak.kernels.numba.simd.rows import normal_row, slopes_in, squares_in
from badak.kernels.numba.threadpool.parallel import parallel


@parallel("W2 Wf1 R2 Rf1 f i")
def rms_norm_rows(task, y, rstd, x, w, eps, rows):
    """y (N, C), rstd (N,) for `rows` rows:   rstd = 1 / sqrt(sum_c x^2 / C + eps)   y = w x rstd."""
    zero, share = x.dtype.type(0), x.dtype.type(1 / max(x.shape[1], 1))
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        r = over_root(squares_in(x[n], zero) * share + eps)
        rstd[n] = r
        normal_row(y[n], x[n], zero, r, w, None)


@parallel("W2 Wf2 R2 R2 Rf1 Rf1 i")
def rms_norm_backward_rows(task, dx, dw_parts, dy, x, w, rstd, rows):
    """dx (N, C) for `rows` rows, and their share of dw: one row of dw_parts (P, C), summed later.

    With h = x rstd and g = w dy:   dx = rstd (g - h mean_c(g h))   dw = sum dy h
    """
    n_rows, channels = x.shape
    zero = x.dtype.type(0)
    share = x.dtype.type(1 / max(channels, 1))
    dw = dw_parts[task]
    dw[:] = zero
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        r = rstd[n]
        sum_gh = slopes_in(dy[n], w, x[n], zero, r) * share
        for c in range(channels):
            h = x[n, c] * r
            dx[n, c] = r * (dy[n, c] * w[c] - h * sum_gh)
            dw[c] += dy[n, c] * h


def rms_norm(x, w, eps):
    """y, rstd.    x (..., C), w (C,) or None -> y (..., C), rstd (...)."""
    rows, dtype = as_rows(x), x.dtype
    n, channels = rows.shape
    number = value_dtype(dtype)
    y, rstd = np.empty((n, channels), dtype), np.empty(n, number)
    step = rows_per_block(channels)
    rms_norm_rows(-(-n // step), x.size, y, rstd, rows, vector_or(1, w, channels, number), eps, step)
    return (y, rstd) if rows is x else (y.reshape(x.shape), rstd.reshape(x.shape[:-1]))


def rms_norm_backward(dy, x, w, rstd, needs):
    """dx, dw; see `reference.rms_norm_backward` for the derivation."""
    rows, dtype = as_rows(x), x.dtype
    n, channels = rows.shape
    step = rows_per_part(n, channels)
    count = -(-n // step)
    number, kind = value_dtype(dtype), None if w is None else w.dtype
    dx, dw = np.empty((n, channels), dtype), np.empty((count, channels), number)
    w = vector_or(1, w, channels, number)
    rms_norm_backward_rows(count, 2 * x.size, dx, dw, as_rows(dy), rows, w, rstd.ravel(), step)
    return dx.reshape(x.shape) if needs[0] else None, summed(dw, kind) if needs[1] else None
