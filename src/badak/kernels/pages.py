"""Keys and values that lie in pages, text by text: what a kernel does that walks no pages."""

from collections.abc import Callable

import numpy as np

from badak.kernels.reference._arrays import Array


def rows_alone(attend: Callable, q: Array, k: Array, v: Array, table: Array, firsts: Array, ends: Array) -> Array:
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
