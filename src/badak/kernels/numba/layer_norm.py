"""Layer normalisation: each row is read from memory once and worked on in cache."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import as_rows, rows_per_block, rows_per_part
from badak.kernels.numba.casts import vector_or
from badak.kernels.numba.codegen.compile import inlined, kernel
from badak.kernels.numba.codegen.floats import over_root
from badak.kernels.numba.reductions import summed
from badak.kernels.numba.simd.rows import normal_row, products_in, slopes_in, squares_in, total_in
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.reference.layer_norm import rounding


@kernel
def _moments_again(x, m, share):
    """m, improved by the mean of x - m, and the mean of (x - m)^2."""
    rest = x.dtype.type(0)
    for c in range(x.size):
        rest += x[c] - m
    m += rest * share
    return m, squares_in(x, m) * share


@inlined
def moments_of(x, eps, rough):
    """mean = sum x / C     rstd = 1 / sqrt(sum (x - mean)^2 / C + eps)     of one row.

    rough: below which share of mean^2 a variance may be rounding, and the mean is taken again.
    """
    share = x.dtype.type(1 / max(x.size, 1))
    m = total_in(x) * share
    var = squares_in(x, m) * share
    if var <= m * m * rough:
        m, var = _moments_again(x, m, share)
    return m, over_root(var + eps)


@parallel("W2 Wf1 Wf1 R2 Rf1 Rf1 f f i")
def layer_norm_rows(task, y, mean, rstd, x, w, b, eps, rough, rows):
    """y = w (x - mean) rstd + b (N, C), mean and rstd (N,) for `rows` rows of x (N, C)."""
    for n in range(task * rows, min((task + 1) * rows, x.shape[0])):
        mean[n], rstd[n] = moments_of(x[n], eps, rough)
        normal_row(y[n], x[n], mean[n], rstd[n], w, b)


@parallel("W2 Wf2 Wf2 R2 R2 Rf1 Rf1 Rf1 i")
def layer_norm_backward_rows(task, dx, dw_parts, db_parts, dy, x, w, mean, rstd, rows):
    """dx (N, C) for `rows` rows, and their share of dw and db: one row of dw_parts, db_parts (P, C), summed later.

    With h = (x - mean) rstd and g = w dy:   dx = rstd (g - mean_c(g) - h mean_c(g h))   dw = sum dy h   db = sum dy
    """
    n_rows, channels = x.shape
    zero = x.dtype.type(0)
    share = x.dtype.type(1 / max(channels, 1))
    dw, db = dw_parts[task], db_parts[task]
    dw[:] = zero
    db[:] = zero
    for n in range(task * rows, min((task + 1) * rows, n_rows)):
        m, r = mean[n], rstd[n]
        sum_g = products_in(dy[n], w) * share
        sum_gh = slopes_in(dy[n], w, x[n], m, r) * share
        for c in range(channels):
            d = dy[n, c]
            h = (x[n, c] - m) * r
            dx[n, c] = r * (d * w[c] - sum_g - h * sum_gh)
            dw[c] += d * h
            db[c] += d


def layer_norm(x, w, b, eps):
    """y, mean, rstd.    x (..., C), w and b (C,) or None -> y (..., C), mean (...), rstd (...)."""
    shape, dtype = x.shape, x.dtype
    rows = as_rows(x)
    n, channels = rows.shape
    number = value_dtype(dtype)
    y, mean, rstd = np.empty((n, channels), dtype), np.empty(n, number), np.empty(n, number)
    step = rows_per_block(channels)
    w, b, rough = vector_or(1, w, channels, number), vector_or(0, b, channels, number), rounding(channels, number)
    layer_norm_rows(-(-n // step), x.size, y, mean, rstd, rows, w, b, eps, rough, step)
    if rows is x:
        return y, mean, rstd
    lead = shape[:-1]
    return y.reshape(shape), mean.reshape(lead), rstd.reshape(lead)


def layer_norm_backward(dy, x, w, mean, rstd, needs):
    """dx, dw, db; see `reference.layer_norm_backward` for the derivation."""
    rows, dtype = as_rows(x), x.dtype
    number, kind = value_dtype(dtype), None if w is None else w.dtype
    n, channels = rows.shape
    step = rows_per_part(n, channels)
    count = -(-n // step)
    dx = np.empty((n, channels), dtype)
    dw, db = np.empty((count, channels), number), np.empty((count, channels), number)
    w = vector_or(1, w, channels, number)
    layer_norm_backward_rows(count, 2 * x.size, dx, dw, db, as_rows(dy), rows, w, mean.ravel(), rstd.ravel(), step)
    return (
        dx.reshape(x.shape) if needs[0] else None,
        summed(dw, kind) if needs[1] else None,
        summed(db, kind) if needs[2] else None,
    )
