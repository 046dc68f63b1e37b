"""Attention over short sequences: a whole head in one task, without BLAS, whose calls cost more than such small products.

All queries of a head go through together, one in each lane: what is kept are arrays (key, lane) and (channel, lane), so that
maxima, exponentials and sums over keys are operations on whole vectors. The products add eight rows at a time, which keeps
the sum in a register for eight multiplications (measured: 116 GFLOP/s, against 15 one row at a time).
Formulas: `plain.attention`.
"""
import math

import numpy as np

from badak.kernels.fast._jit import kernel, largest, parallel
from badak.kernels.fast._math import exp

LANES = 32              # of which a number of lanes is a multiple: the compiler's vector loop takes that many at once


@kernel
def _lanes(count):
    return -(-count // LANES) * LANES


@kernel
def _add_eight(y, b, i, w0, w1, w2, w3, w4, w5, w6, w7):
    """y += w0 b[i] + ... + w7 b[i + 7]."""
    for t in range(y.size):
        y[t] += (w0 * b[i, t] + w1 * b[i + 1, t] + w2 * b[i + 2, t] + w3 * b[i + 3, t]
                 + w4 * b[i + 4, t] + w5 * b[i + 5, t] + w6 * b[i + 6, t] + w7 * b[i + 7, t])


@kernel
def _add_one(y, b, i, w):
    """y += w b[i]."""
    for t in range(y.size):
        y[t] += w * b[i, t]


@kernel
def _product(y, a, b):
    """y[j, t] = sum_c a[j, c] b[c, t]."""
    y[:] = 0
    whole = a.shape[1] // 8 * 8
    for j in range(a.shape[0]):
        w = a[j]
        for c in range(0, whole, 8):
            _add_eight(y[j], b, c, w[c], w[c + 1], w[c + 2], w[c + 3], w[c + 4], w[c + 5], w[c + 6], w[c + 7])
        for c in range(whole, w.size):
            _add_one(y[j], b, c, w[c])


@kernel
def _turned(y, x, factor):
    """y[c, t] = factor x[t, c], 0 in the lanes beyond x."""
    y[:, x.shape[0]:] = 0
    for t in range(x.shape[0]):
        for c in range(x.shape[1]):
            y[c, t] = factor * x[t, c]


@kernel
def _mask(scores, b, h, queries, keep, bias, causal):
    """Add the bias to scores (key, lane) and hide what the queries may not see."""
    hidden = scores.dtype.type(-np.inf)
    for j in range(scores.shape[0]):
        if bias.size:
            for t in range(queries):
                scores[j, t] += bias[b, h, t, j]
        if keep.size:
            for t in range(queries):
                scores[j, t] = scores[j, t] if keep[b, h, t, j] else hidden
        for t in range(min(max(j - causal, 0), scores.shape[1])):
            scores[j, t] = hidden


@kernel
def _exponentials(scores, shift, total):
    """scores[j, t] = exp(scores[j, t] - shift[t]) in place, total[t] their sum over j."""
    total[:] = 0
    for j in range(scores.shape[0]):
        row = scores[j]
        for t in range(row.size):
            e = exp(row[t] - shift[t])
            row[t] = e
            total[t] += e


@kernel
def _drop(x, drop, b, h, queries, raised):
    """x[j, t] = x[j, t] drop raised, raised = 1 / (1 - p)."""
    for j in range(x.shape[0]):
        for t in range(queries):
            x[j, t] = x[j, t] * raised if drop[b, h, t, j] else x.dtype.type(0)


@parallel("X4 W3 V4 V4 V4 V?4 V4 V?4 f f i")
def short_attention_head(task, out, lse, q, k, v, keep, bias, drop, scale, raised, causal):
    """out (B, H, T, E) and lse (B, H, T) of one head."""
    heads, queries, width = q.shape[1], q.shape[2], q.shape[3]
    b, h = task // heads, task % heads
    keys, values = k[b, h // (heads // k.shape[1])], v[b, h // (heads // k.shape[1])]
    lanes, zero = _lanes(queries), q.dtype.type(0)
    space = np.empty((width + keys.shape[0] + values.shape[1] + 2, lanes), q.dtype)
    q_lanes, scores = space[:width], space[width:width + keys.shape[0]]
    o_lanes, top, total = space[width + keys.shape[0]:-2], space[-2], space[-1]
    _turned(q_lanes, q[b, h], scale)
    _product(scores, keys, q_lanes)
    _mask(scores, b, h, queries, keep, bias, causal)
    top[:] = -np.inf
    for j in range(keys.shape[0]):
        for t in range(lanes):
            top[t] = largest(top[t], scores[j, t])
    for t in range(lanes):
        top[t] = zero if top[t] == -np.inf else top[t]              # nothing to attend to: all exponentials are 0
    _exponentials(scores, top, total)
    if drop.size:
        _drop(scores, drop, b, h, queries, raised)
    _product(o_lanes, values.T, scores)
    for t in range(queries):
        lse[b, h, t] = top[t] + q.dtype.type(math.log(total[t])) if total[t] != 0 else -np.inf
        share = q.dtype.type(1) / total[t] if total[t] != 0 else zero
        for c in range(values.shape[1]):
            out[b, h, t, c] = o_lanes[c, t] * share


@kernel
def _probabilities(p, ds, dot, total):
    """p = p / total over keys, ds = p (ds - sum_j p ds), in place; a total of 0 gives zeros."""
    one, zero = p.dtype.type(1), p.dtype.type(0)
    for t in range(total.size):
        total[t] = one / total[t] if total[t] != 0 else zero        # its own sum, so that the rounding of lse cancels
    dot[:] = 0
    for j in range(p.shape[0]):
        for t in range(total.size):
            p[j, t] *= total[t]
            dot[t] += p[j, t] * ds[j, t]
    for j in range(p.shape[0]):
        for t in range(total.size):
            ds[j, t] = p[j, t] * (ds[j, t] - dot[t])


@parallel("X4 X4 X4 V4 V4 V4 V4 R3 V?4 V4 V?4 f f i")
def short_attention_backward_group(task, dq, dk, dv, dout, q, k, v, lse, keep, bias, drop, scale, raised, causal):
    """dq of the query heads that share one key head, and that head's dk, dv.

        dv = A^T dout    dA = dout v^T    ds = P (dP - sum_j P dP)    dq = scale ds k    dk = scale ds^T q
    """
    groups, queries, width, span, size = k.shape[1], q.shape[2], q.shape[3], k.shape[2], v.shape[3]
    b, g = task // groups, task % groups
    shared, lanes, zero, one = q.shape[1] // groups, _lanes(queries), q.dtype.type(0), q.dtype.type(1)
    space = np.empty((2 * width + size + 2 * span + 3, lanes), q.dtype)
    q_lanes, dq_lanes, do_lanes = space[:width], space[width:2 * width], space[2 * width:2 * width + size]
    p, ds = space[2 * width + size:-3 - span], space[-3 - span:-3]
    shift, total, dot = space[-3], space[-2], space[-1]
    turned, sums = np.empty((queries, _lanes(span)), q.dtype), np.empty((max(width, size), _lanes(span)), q.dtype)
    dk[b, g, :, :] = 0
    dv[b, g, :, :] = 0
    for h in range(g * shared, (g + 1) * shared):
        _turned(q_lanes, q[b, h], scale)
        _turned(do_lanes, dout[b, h], one)
        _product(p, k[b, g], q_lanes)
        _mask(p, b, h, queries, keep, bias, causal)
        for t in range(lanes):
            shift[t] = lse[b, h, t] if t < queries and lse[b, h, t] != -np.inf else zero
        _exponentials(p, shift, total)
        _product(ds, v[b, g], do_lanes)
        if drop.size:
            _drop(ds, drop, b, h, queries, raised)
        _probabilities(p, ds, dot, total)
        _product(dq_lanes, k[b, g].T, ds)
        for t in range(queries):
            for c in range(width):
                dq[b, h, t, c] = scale * dq_lanes[c, t]
        if drop.size:
            _drop(p, drop, b, h, queries, raised)
        _add_over_queries(dv[b, g], p, dout[b, h], one, turned, sums[:size])
        _add_over_queries(dk[b, g], ds, q[b, h], scale, turned, sums[:width])


@kernel
def _add_over_queries(y, a, x, factor, turned, sums):
    """y[j, c] += factor sum_t a[j, t] x[t, c]: with the keys in the lanes, again a product of the one kind."""
    _turned(turned, a[:, :x.shape[0]], factor)
    _product(sums, x.T, turned)
    for j in range(y.shape[0]):
        for c in range(y.shape[1]):
            y[j, c] += sums[c, j]
