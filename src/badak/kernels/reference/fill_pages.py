"""Keys or values of new tokens, put into the pages of their texts."""

import numpy as np

from badak.kernels.reference._arrays import Array


def fill_pages(x: Array, source: Array, table: Array, at: Array) -> None:
    """Put source[b, :, t], source (B, G, T, D), to place at[b, t] of text b, in pages x (P, G, N, D)."""
    size = x.shape[2]
    x[np.take_along_axis(table, at // size, axis=1), :, at % size] = source.transpose(0, 2, 1, 3)
