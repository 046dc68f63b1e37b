"""Attention over short sequences: a whole head in one task, without BLAS, whose calls cost more than such small products.

Sixteen queries go through together, one in each lane of a vector: scores, exponentials and sums of a key are one operation
on 16 numbers, and no sum runs across lanes but those over queries. Arrays are kept transposed, (key, lane) or (channel, lane).
Measured for (64, 4, 28, 8), one thread: forward 1.8 -> 0.3 ms, backward 3.5 -> 0.8 ms. Formulas: `plain.attention`.
"""
import math

import numpy as np

from badak.kernels.fast._jit import kernel, largest, parallel
from badak.kernels.fast._math import exp

LANES = 16


@kernel
def _transposed(y, x, first, count):
    """y[c, t] = x[first + t, c] for t < count, 0 in the lanes that are left."""
    for c in range(x.shape[1]):
        for t in range(count):
            y[c, t] = x[first + t, c]
        for t in range(count, LANES):
            y[c, t] = 0


@kernel
def _inner(y, a, b):
    """y[j, t] = sum_c a[j, c] b[c, t]."""
    y[:] = 0
    for c in range(a.shape[1]):
        for j in range(a.shape[0]):
            w = a[j, c]
            for t in range(LANES):
                y[j, t] += w * b[c, t]


@kernel
def _outer(y, a, b):
    """y[c, t] = sum_j a[j, c] b[j, t]."""
    y[:] = 0
    for j in range(a.shape[0]):
        for c in range(a.shape[1]):
            w = a[j, c]
            for t in range(LANES):
                y[c, t] += w * b[j, t]


@kernel
def _across(y, a, b, weight):
    """y[j, c] += weight sum_t a[j, t] b[c, t]."""
    for j in range(a.shape[0]):
        for c in range(b.shape[0]):
            total = weight - weight
            for t in range(LANES):
                total += a[j, t] * b[c, t]
            y[j, c] += weight * total


@kernel
def _mask(scores, first, count, b, h, keep, bias, causal):
    """Add the bias to scores (key, lane) and hide what the queries first .. first + count - 1 may not see."""
    hidden = scores.dtype.type(-np.inf)
    for j in range(scores.shape[0]):
        if bias.size:
            for t in range(count):
                scores[j, t] += bias[b, h, first + t, j]
        if keep.size:
            for t in range(count):
                scores[j, t] = scores[j, t] if keep[b, h, first + t, j] else hidden
        for t in range(min(max(j - causal - first, 0), LANES)):
            scores[j, t] = hidden


@kernel
def _exponentials(scores, shift, total):
    """scores[j, t] = exp(scores[j, t] - shift[t]) in place, total[t] their sum over j."""
    total[:] = 0
    for j in range(scores.shape[0]):
        for t in range(LANES):
            e = exp(scores[j, t] - shift[t])
            scores[j, t] = e
            total[t] += e


@kernel
def _drop(x, drop, b, h, first, count, raised):
    """x[j, t] = x[j, t] drop raised, raised = 1 / (1 - p)."""
    for j in range(x.shape[0]):
        for t in range(count):
            x[j, t] = x[j, t] * raised if drop[b, h, first + t, j] else x.dtype.type(0)


@parallel("X4 W3 V4 V4 V4 V?4 V4 V?4 f f i")
def short_attention_head(task, out, lse, q, k, v, keep, bias, drop, scale, raised, causal):
    """out (B, H, T, E) and lse (B, H, T) of one head."""
    heads, queries, width = q.shape[1], q.shape[2], q.shape[3]
    b, h = task // heads, task % heads
    g = h // (heads // k.shape[1])
    keys, values = k[b, g], v[b, g]
    q_lanes = np.empty((width, LANES), q.dtype)
    o_lanes = np.empty((values.shape[1], LANES), q.dtype)
    scores = np.empty((keys.shape[0], LANES), q.dtype)
    top, total = np.empty(LANES, q.dtype), np.empty(LANES, q.dtype)
    for first in range(0, queries, LANES):
        count = min(LANES, queries - first)
        _transposed(q_lanes, q[b, h], first, count)
        q_lanes *= scale
        _inner(scores, keys, q_lanes)
        _mask(scores, first, count, b, h, keep, bias, causal)
        top[:] = -np.inf
        for j in range(keys.shape[0]):
            for t in range(LANES):
                top[t] = largest(top[t], scores[j, t])
        for t in range(LANES):
            top[t] = 0 if top[t] == -np.inf else top[t]         # nothing to attend to: all exponentials are 0
        _exponentials(scores, top, total)
        if drop.size:
            _drop(scores, drop, b, h, first, count, raised)
        _outer(o_lanes, values, scores)
        for t in range(count):
            share = q.dtype.type(1) / total[t] if total[t] != 0 else q.dtype.type(0)
            lse[b, h, first + t] = top[t] + q.dtype.type(math.log(total[t])) if total[t] != 0 else -np.inf
            for c in range(values.shape[1]):
                out[b, h, first + t, c] = o_lanes[c, t] * share


@parallel("X4 X4 X4 V4 V4 V4 V4 R3 V?4 V4 V?4 f f i")
def short_attention_backward_group(task, dq, dk, dv, dout, q, k, v, lse, keep, bias, drop, scale, raised, causal):
    """dq of the query heads that share one key head, and that head's dk, dv.

        dv += A^T dout    dA = dout v^T    ds = P (dP - sum_j P dP)    dq = scale ds k    dk += scale ds^T q
    """
    groups = k.shape[1]
    b, g = task // groups, task % groups
    shared = q.shape[1] // groups
    queries, width = q.shape[2], q.shape[3]
    keys, values = k[b, g], v[b, g]
    one, zero = q.dtype.type(1), q.dtype.type(0)
    q_lanes, dq_lanes = np.empty((width, LANES), q.dtype), np.empty((width, LANES), q.dtype)
    do_lanes = np.empty((values.shape[1], LANES), q.dtype)
    p, ds = np.empty((keys.shape[0], LANES), q.dtype), np.empty((keys.shape[0], LANES), q.dtype)
    shift, total, dot = np.empty(LANES, q.dtype), np.empty(LANES, q.dtype), np.empty(LANES, q.dtype)
    dk[b, g, :, :] = 0
    dv[b, g, :, :] = 0
    for h in range(g * shared, (g + 1) * shared):
        for first in range(0, queries, LANES):
            count = min(LANES, queries - first)
            _transposed(q_lanes, q[b, h], first, count)
            _transposed(do_lanes, dout[b, h], first, count)
            q_lanes *= scale
            _inner(p, keys, q_lanes)
            _mask(p, first, count, b, h, keep, bias, causal)
            for t in range(LANES):
                shift[t] = lse[b, h, first + t] if t < count and lse[b, h, first + t] != -np.inf else zero
            _exponentials(p, shift, total)
            _inner(ds, values, do_lanes)
            if drop.size:
                _drop(ds, drop, b, h, first, count, raised)
            for t in range(LANES):
                total[t] = one / total[t] if total[t] != 0 else zero     # its own sum, so that the rounding of lse cancels
            dot[:] = 0
            for j in range(keys.shape[0]):
                for t in range(LANES):
                    p[j, t] *= total[t]
                    dot[t] += p[j, t] * ds[j, t]
            for j in range(keys.shape[0]):
                for t in range(LANES):
                    ds[j, t] = p[j, t] * (ds[j, t] - dot[t])
            if drop.size:
                _drop(p, drop, b, h, first, count, raised)
            _across(dv[b, g], p, do_lanes, one)
            _across(dk[b, g], ds, q_lanes, one)                          # q_lanes carry the scale already
            _outer(dq_lanes, keys, ds)
            for t in range(count):
                for c in range(width):
                    dq[b, h, first + t, c] = scale * dq_lanes[c, t]
