"""Attention of a single query: a step of generation, in which keys and values stream by once."""

import math

import numpy as np

from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.simd.accumulators import in_full, rounded_to, summing
from badak.kernels.numba.simd.bf16_gemm import AMX, WIDE
from badak.kernels.numba.simd.dots import dots, tile_dots
from badak.kernels.numba.simd.rows import exp_row, largest_in, scaled_row
from badak.kernels.numba.simd.streams import add_rows
from badak.kernels.numba.threadpool.parallel import parallel

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
    """scores (1, S) = scale q k^T for q (1, E) and k (S, E): the bits that `multiply` gives in that way."""
    if way == WIDE:
        dots(k, in_full(True, q, np.empty(q.shape, scores.dtype)), scale, scores[0, :0], scores)
    elif way == AMX:
        tile_dots(k, q, scale, scores[0, :0], scores)
    else:
        dots(k, q, scale, scores[0, :0], scores)


@parallel("X4 Wf3 V4 V4 V4 V?4 f i")
def attention_of_one(task, out, lse, q, k, v, keep, scale, way):
    """out (B, H, 1, E) and lse (B, H, 1) of the one query of one head: a step of generation. keep (B, H, 1, S) or empty.

    A product packs its second matrix first, which for a single row costs more than the product; here keys and values stream
    by once, up to the last one that is kept: a cache that is not full yet costs what is in it. Every sum has the order that it has
    in a block of queries, and hidden keys add zeros to it: a query has the same bits in either, and wherever its text begins.
    """
    heads = q.shape[1]
    b, h = task // heads, task % heads
    g = h // (heads // k.shape[1])
    seen = k.shape[2]
    while keep.size and seen > 0 and not keep[b, h, 0, seen - 1]:
        seen -= 1
    lse[b, h, 0] = -np.inf
    if seen == 0:
        out[b, h] = 0
        return
    scores, sums = np.empty((1, seen), q.dtype), summing(unit_stride(out[b, h, 0])).reshape(1, -1)
    scores_of_one(way, q[b, h], k[b, g, :seen], scale, scores)
    for j in range(keep.shape[3]):
        if j < seen and not keep[b, h, 0, j]:
            scores[0, j] = -np.inf
    lse[b, h, 0] = _softmax(scores[0])
    room = np.empty((_TOGETHER, v.shape[3]), q.dtype)
    for j in range(0, seen, _TOGETHER):
        values = in_full(True, v[b, g, j : min(j + _TOGETHER, seen)], room)
        add_rows(sums, scores[:, j : j + _TOGETHER], values)
    _plus_zero(sums[0])
    rounded_to(unit_stride(out[b, h, 0]), sums[0])
