"""Attention of a single query: a step of generation, in which keys and values stream by once."""

import math

import numpy as np

from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.compile import kernel, overload
from badak.kernels.numba.simd.accumulators import rounded_to, summing
from badak.kernels.numba.simd.dots import dots
from badak.kernels.numba.simd.rows import exp_row, largest_in, scaled_row
from badak.kernels.numba.threadpool.parallel import parallel


@kernel
def _softmax(row):
    """row = exp(row - lse) in place; returns lse."""
    top = largest_in(row)
    total = exp_row(row, row, top)
    scaled_row(row, row, row.dtype.type(1) / total)
    return top + row.dtype.type(math.log(total))


def _along(keys, query, scores):
    """scores[j] = keys[j] . query, the rows of keys being contiguous."""
    dots(keys, query, scores)


@overload(_along)
def _(keys, query, scores):
    if not is_bfloat16(keys):
        return lambda keys, query, scores: dots(keys, query, scores)

    def run(keys, query, scores):
        for j in range(scores.size):
            key, total = unit_stride(keys[j]), scores.dtype.type(0)
            for c in range(query.size):
                total += key[c] * query[c]
            scores[j] = total

    return run


@parallel("X4 Wf3 V4 V4 V4 V?4 f")
def attention_of_one(task, out, lse, q, k, v, keep, scale):
    """out (B, H, 1, E) and lse (B, H, 1) of the one query of one head: a step of generation. keep (B, H, 1, S) or empty.

    A product packs its second matrix first, which for a single row costs more than the product; here keys and values stream
    by once, up to the last one that is kept: a cache that is not full yet costs what is in it.
    """
    heads = q.shape[1]
    b, h = task // heads, task % heads
    g = h // (heads // k.shape[1])
    query, result = unit_stride(q[b, h, 0]), summing(unit_stride(out[b, h, 0]))
    seen = k.shape[2]
    while keep.size and seen > 0 and not keep[b, h, 0, seen - 1]:
        seen -= 1
    lse[b, h, 0] = -np.inf
    if seen == 0:
        rounded_to(unit_stride(out[b, h, 0]), result)
        return
    scores = np.empty(seen, q.dtype)
    _along(k[b, g, :seen], query, scores)
    for j in range(seen):
        scores[j] *= scale
        if keep.size and not keep[b, h, 0, j]:
            scores[j] = -np.inf
    lse[b, h, 0] = _softmax(scores)
    for j in range(seen):
        value, weight = unit_stride(v[b, g, j]), scores[j]
        for c in range(result.size):
            result[c] += weight * value[c]
    rounded_to(unit_stride(out[b, h, 0]), result)
