"""Mean and variance of each channel, for batch normalisation."""

import numpy as np

from badak.kernels.reference._arrays import Array, in_float32, quiet
from badak.kernels.reference._channels import all_but_channels, of_channels


@quiet
@in_float32(None, None, None)
def batch_moments(x: Array) -> tuple[Array, Array, Array]:
    """mean, var and unbiased var (C,) of the channels of x (N, C, ...), over all M values of each.

        mean = sum x / M     var = sum (x - mean)^2 / M     unbiased = sum (x - mean)^2 / (M - 1), 0 where M = 1

    Two passes, as in layer norm; sums are float64, because M is large.
    """
    axes, count = all_but_channels(x), max(x.size // max(x.shape[1], 1), 1)
    mean = x.sum(axis=axes, dtype=np.float64) / count
    d = x - of_channels(mean, x)
    spread = (d * d).sum(axis=axes)
    return mean.astype(x.dtype), (spread / count).astype(x.dtype), (spread / max(count - 1, 1)).astype(x.dtype)
