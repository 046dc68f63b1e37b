"""`attention_of_one` where keys and values lie in pages: the same sums in the same order, page after page."""

import numpy as np

from badak.kernels.memory_format import heads_like
from badak.kernels.numba.attention import _scale, attention, way_of_scores
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.decode_attention import _TOGETHER, _plus_zero, _softmax, heads_of_a_task, scores_of_one
from badak.kernels.numba.embedding import out_of_range
from badak.kernels.numba.simd.accumulators import in_full, rounded_to, summing
from badak.kernels.numba.simd.streams import add_rows
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.pages import rows_alone


@parallel("X4 V4 V4 V4 Ri2 Ri2 i f i i")
def attention_in_pages(task, out, q, k, v, table, at, window, scale, way, heads):
    """out (B, H, 1, E) of the one query of so many heads, as `attention_of_one` of the keys up to at[b, 0]."""
    tasks, size = q.shape[1] // heads, k.shape[2]
    b, h = task // tasks, task % tasks * heads
    g = h // (q.shape[1] // k.shape[1])
    end = at[b, 0] + 1
    first = max(end - window, 0) if window > 0 else 0
    queries, results = q[b, h : h + heads, 0], out[b, h : h + heads, 0]
    scores, sums = np.empty((heads, end - first), q.dtype), summing(results)
    j = first
    while j < end:
        stop = min((j // size + 1) * size, end)
        keys = k[table[b, j // size], g, j % size : j % size + stop - j]
        scores_of_one(way, queries, keys, scale, scores[:, j - first : stop - first])
        j = stop
    for m in range(heads):
        _softmax(scores[m])
    room = np.empty((_TOGETHER, v.shape[3]), q.dtype)
    j = first
    while j < end:
        stop = min((j // size + 1) * size, end, j + _TOGETHER)
        values = in_full(True, v[table[b, j // size], g, j % size : j % size + stop - j], room)
        add_rows(sums, scores[:, j - first : stop - first], values)
        j = stop
    for m in range(heads):
        _plus_zero(sums[m])
    rounded_to(results, sums)


def paged_attention(q, k, v, table, at, window=0):
    """See `reference.paged_attention`."""
    batch, heads, _, width = q.shape
    if width == 0 or (q.itemsize == 2 and width % 2) or any(x.strides[-1] != x.itemsize for x in (q, k, v)):
        return rows_alone(attention, q, k, v, table, at, window)
    out = heads_like(q, v.shape[3])
    work = table.size * (k[0].size + v[0].size) // 3  # of all that the pages hold: a call that is kept serves longer texts, too
    together = heads_of_a_task(q, k)
    tasks = batch * heads // together
    attention_in_pages(tasks, work, out, q, k, v, table, at, window, _scale(None, q), way_of_scores(q), together)
    return out


@parallel("X4 V4 Ri2 Ri2 Ei1")
def fill_pages_of(task, x, source, table, at, wrong):
    """`fill_pages` of text number `task`. A place outside of its pages sets wrong[0]."""
    size = x.shape[2]
    for t in range(at.shape[1]):
        place = at[task, t]
        if place < 0 or place // size >= table.shape[1]:
            wrong[0] = 1
            return
        page = table[task, place // size]
        for g in range(x.shape[1]):
            target, given = unit_stride(x[page, g, place % size]), unit_stride(source[task, g, t])
            for c in range(target.size):
                target[c] = given[c]


def fill_pages(x, source, table, at):
    """See `reference.fill_pages`. Always by a kernel: a recorded step takes its calls for all that is done."""
    if source.dtype != x.dtype or source.strides[-1] != source.itemsize:
        source = np.ascontiguousarray(source, x.dtype)
    wrong = np.zeros(1, np.int64)
    fill_pages_of(len(at), source.size * 0.3, x, source, table, at, wrong)
    if wrong[0]:
        raise out_of_range(at, table.shape[1] * x.shape[2], "fill_pages")
