"""Attention of a single query: a step of generation, in which keys and values stream by once."""

import math

import numpy as np

from badak.kernels.numba.codegen.arrays import lent
from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.compile import kernel, overload
from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.simd.accumulators import in_full, rounded_to, summing
from badak.kernels.numba.simd.bf16_gemm import AMX, WIDE
from badak.kernels.numba.simd.dots import dots, tile_dots
from badak.kernels.numba.simd.rows import exp_row, largest_in, scaled_row
from badak.kernels.numba.simd.streams import add_rows
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.numba.threadpool.pool import team

_TOGETHER = 64  # values that are widened at a time where they are bfloat16


def _softmax(row):
    """row = exp(row - lse) in place; returns lse. To the bit what `softmax_columns` does to a column: its sum is taken in order."""
    row -= np.log(np.exp(row).sum())


@rounded(_softmax)
def _(row):
    number = row.dtype

    def run(row):
        top, total = largest_in(row), number(0)
        exp_row(row, row, number(0) if top == -np.inf else top)
        for j in range(row.size):
            total += row[j]
        total = number(1) if total == 0 else total
        scaled_row(row, row, number(1) / total)
        return top + number(math.log(total))

    return run


def _room(v, sums):
    """Where values are widened, if they are bfloat16; else any array does."""
    return sums


@overload(_room)
def _(v, sums):
    together = _TOGETHER
    return (lambda v, sums: np.empty((together, v.shape[3]), np.float32)) if is_bfloat16(v) else (lambda v, sums: sums)


def _plus_zero(row):
    """row + 0 in place, as a product ends: of -0 it makes 0."""
    row += 0


@rounded(_plus_zero)
def _(row):
    def run(row):
        for c in range(row.size):
            row[c] += row.dtype.type(0)

    return run


@kernel
def scores_of_one(way, q, k, scale, scores):
    """scores (M, S) = scale q k^T for q (M, E) and k (S, E): the bits that `multiply` gives in that way."""
    if way == WIDE:
        dots(k, in_full(True, q, np.empty(q.shape, scores.dtype)), scale, scores[0, :0], scores)
    elif way == AMX:
        tile_dots(k, q, scale, scores[0, :0], scores)
    else:
        dots(k, q, scale, scores[0, :0], scores)


@kernel
def _seen(keep, b, h, keys):
    """How many keys a head sees, up to the last one that is kept."""
    while keep.size and keys > 0 and not keep[b, h, 0, keys - 1]:
        keys -= 1
    return keys


@kernel
def _heads_of_one(first, end, seen, b, out, lse, q, k, v, keep, scale, way):
    """The heads from `first` to `end`, which share keys and values and see as many of them."""
    lse[b, first:end, 0] = -np.inf
    if seen == 0:
        out[b, first:end] = 0
        return
    g = first // (q.shape[1] // k.shape[1])
    queries, results = q[b, first:end, 0], out[b, first:end, 0]
    space, sums = np.empty((end - first, seen), q.dtype), summing(results)
    scores = lent(space)
    scores_of_one(way, queries, k[b, g, :seen], scale, scores)
    for m in range(end - first):
        for j in range(keep.shape[3]):
            if j < seen and not keep[b, first + m, 0, j]:
                scores[m, j] = -np.inf
        lse[b, first + m, 0] = _softmax(scores[m])
    room = _room(v, sums)
    for j in range(0, seen, _TOGETHER):
        values = in_full(True, v[b, g, j : min(j + _TOGETHER, seen)], room)
        add_rows(sums, scores[:, j : j + _TOGETHER], values)
    for m in range(end - first):
        _plus_zero(sums[m])
    rounded_to(results, sums)
    space[:0] = 0


@parallel("X4 Wf3 V4 V4 V4 V?4 f i i")
def attention_of_one(task, out, lse, q, k, v, keep, scale, way, heads):
    """out (B, H, 1, E) and lse (B, H, 1) of the one query of so many heads of a group: a step of generation.

    keep is (B, H, 1, S) or empty. A product packs its second matrix first, which for a few rows costs more than the product; here
    keys and values stream by once, for all heads of the task and up to the last one that is kept: a cache that is not full costs
    what is in it. Every sum has the order that it has in a block of queries, and hidden keys add zeros to it: a query has the same
    bits in either, and wherever its text begins.
    """
    out, lse, q, k, v, keep = lent(out), lent(lse), lent(q), lent(k), lent(v), lent(keep)
    tasks = q.shape[1] // heads
    b, first = task // tasks, task % tasks * heads
    last = first + heads
    while first < last:
        seen, end = _seen(keep, b, first, k.shape[2]), first + 1
        while end < last and _seen(keep, b, end, k.shape[2]) == seen:
            end += 1
        _heads_of_one(first, end, seen, b, out, lse, q, k, v, keep, scale, way)
        first = end


def heads_of_a_task(q, k):
    """How many heads of a group a task takes: as many as leave two tasks for each thread, so that keys are read once for all."""
    batch, heads = q.shape[:2]
    group = heads // max(k.shape[1], 1)
    return next((n for n in range(group, 1, -1) if group % n == 0 and batch * heads >= 2 * n * team.size), 1)
