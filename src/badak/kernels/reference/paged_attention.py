"""Attention of one query for each text, to keys and values that lie in pages: what a server of many texts asks for.

Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023.
"""

from badak.kernels.pages import rows_alone
from badak.kernels.reference._arrays import Array
from badak.kernels.reference.attention import attention


def paged_attention(q: Array, k: Array, v: Array, table: Array, at: Array, window: int = 0) -> Array:
    """out (B, H, 1, E) of the queries q (B, H, 1, D).    k (P, G, N, D), v (P, G, N, E): P pages of N tokens.

    Key j of text b lies in page table[b, j // N] at j % N; its query sees the keys j <= at[b, 0], the last `window` of them
    unless that is 0. The values are those of `attention` of that text alone.
    """
    return rows_alone(attention, q, k, v, table, at, window)
