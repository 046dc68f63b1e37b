"""Keys and values that lie in pages, text by text: what a kernel does that walks no pages."""

from collections.abc import Callable

import numpy as np

from badak.kernels.reference._arrays import Array


def rows_alone(attend: Callable, q: Array, k: Array, v: Array, table: Array, at: Array, window: int) -> Array:
    """`paged_attention` by the `attend` of each text, its keys and values laid side by side."""
    rows = []
    for b, end in enumerate((at[:, 0] + 1).tolist()):
        keys, values = (gathered(x, table[b], end)[:, :, max(end - window, 0) if window else 0 :] for x in (k, v))
        rows.append(attend(q[b : b + 1], keys, values)[0])
    return np.concatenate(rows)


def gathered(x: Array, pages: Array, end: int) -> Array:
    """The first `end` keys or values of one text, (1, G, end, D), a copy; x (P, G, N, D)."""
    _, groups, size, width = x.shape
    found = x[pages[: -(-end // size)]].transpose(1, 0, 2, 3).reshape(1, groups, -1, width)
    return found[:, :, :end]
