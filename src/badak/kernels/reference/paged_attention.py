"""Attention of one query for each text, to keys and values that lie in pages: what a server of many texts asks for.

Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023.
"""

import numpy as np

from badak.kernels.reference._arrays import Array
from badak.kernels.reference.attention import attention


def paged_attention(q: Array, k: Array, v: Array, table: Array, firsts: Array, ends: Array) -> Array:
    """out (B, H, 1, E) of the queries q (B, H, 1, D).    k (P, G, N, D), v (P, G, N, E): P pages of N tokens.

    Key j of text b lies in page table[b, j // N] at j % N; its query sees the keys firsts[b] <= j < ends[b]. The
    values are those of `attention` of that text alone.
    """
    return rows_alone(attention, q, k, v, table, firsts, ends)


def rows_alone(attend, q: Array, k: Array, v: Array, table: Array, firsts: Array, ends: Array) -> Array:
    """`paged_attention` by the `attend` of each text, its keys and values laid side by side."""
    rows = []
    for b, (first, end) in enumerate(zip(firsts, ends)):
        keys, values = (gathered(x, table[b], int(end))[:, :, int(first) :] for x in (k, v))
        rows.append(attend(q[b : b + 1], keys, values)[0])
    return np.concatenate(rows)


def gathered(x: Array, pages: Array, end: int) -> Array:
    """The first `end` keys or values of one text, (1, G, end, D), a copy; x (P, G, N, D)."""
    _, groups, size, width = x.shape
    found = x[pages[: -(-end // size)]].transpose(1, 0, 2, 3).reshape(1, groups, -1, width)
    return found[:, :, :end]
