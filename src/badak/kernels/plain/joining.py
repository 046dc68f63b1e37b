"""Arrays side by side."""

from collections.abc import Sequence

import numpy as np

from badak.kernels.plain._arrays import Array


def concatenate(xs: Sequence[Array], axis: int) -> Array:
    """The arrays one after the other along `axis`."""
    return np.concatenate(xs, axis)
