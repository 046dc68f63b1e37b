"""`attention_of_one` where keys and values lie in pages: the same sums in the same order, page after page."""

import numpy as np

from badak.kernels.memory_format import heads_like
from badak.kernels.numba.attention import _scale, attention, way_of_scores
from badak.kernels.numba.decode_attention import _TOGETHER, _plus_zero, _softmax, heads_of_a_task, scores_of_one
from badak.kernels.numba.simd.accumulators import in_full, rounded_to, summing
from badak.kernels.numba.simd.streams import add_rows
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.pages import rows_alone


@parallel("X4 V4 V4 V4 Ri2 Ri1 Ri1 f i i")
def attention_in_pages(task, out, q, k, v, table, firsts, ends, scale, way, heads):
    """out (B, H, 1, E) of the one query of so many heads, as `attention_of_one` of the keys firsts[b] <= j < ends[b]."""
    tasks, size = q.shape[1] // heads, k.shape[2]
    b, h = task // tasks, task % tasks * heads
    g = h // (q.shape[1] // k.shape[1])
    first, end = firsts[b], ends[b]
    queries, results = q[b, h : h + heads, 0], out[b, h : h + heads, 0]
    scores, sums = np.empty((heads, end - first), q.dtype), summing(results)
    at = first
    while at < end:
        stop = min((at // size + 1) * size, end)
        keys = k[table[b, at // size], g, at % size : at % size + stop - at]
        scores_of_one(way, queries, keys, scale, scores[:, at - first : stop - first])
        at = stop
    for m in range(heads):
        _softmax(scores[m])
    room = np.empty((_TOGETHER, v.shape[3]), q.dtype)
    at = first
    while at < end:
        stop = min((at // size + 1) * size, end, at + _TOGETHER)
        values = in_full(True, v[table[b, at // size], g, at % size : at % size + stop - at], room)
        add_rows(sums, scores[:, at - first : stop - first], values)
        at = stop
    for m in range(heads):
        _plus_zero(sums[m])
    rounded_to(results, sums)


def paged_attention(q, k, v, table, firsts, ends):
    """See `reference.paged_attention`."""
    batch, heads, _, width = q.shape
    if width == 0 or (q.itemsize == 2 and width % 2) or any(x.strides[-1] != x.itemsize for x in (q, k, v)):
        return rows_alone(attention, q, k, v, table, firsts, ends)
    out = heads_like(q, v.shape[3])
    work = table.size * k[0].size * (1 + v.shape[3] // width) // 3  # of all that the pages hold: a kept call serves longer texts
    together = heads_of_a_task(q, k)
    tasks = batch * heads // together
    attention_in_pages(tasks, work, out, q, k, v, table, firsts, ends, _scale(None, q), way_of_scores(q), together)
    return out
