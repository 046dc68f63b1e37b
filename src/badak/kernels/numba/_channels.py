"""How the kernels of batch normalisation see x (N, C, ...): as lines.

Lines are images (N C, S), a row for one channel of one image, or, where such a row would be short or the channels of a pixel lie
side by side, columns (M, C group), of which `group` neighbours are one channel.
"""

import math

import numpy as np

from badak.kernels.memory_format import channels_last
from badak.kernels.numba._blocks import contiguous, rows_per_block

IMAGES = 0  # the group of lines that are images
TOGETHER = 64  # channels whose parts one task adds up
_SHORT = 16  # numbers of a channel of an image that do not pay for a look at its mean and weight
_FEW = 16  # rows that a part has at least, so that the sums of parts are small next to x


def lines_of(x, like=None):
    """x (N, C, ...) as lines, and the group; as those of `like` are made."""
    like = x if like is None else like
    channels = x.shape[1]
    if channels_last(like):
        return contiguous(np.moveaxis(x, 1, -1)).reshape(-1, channels), 1
    x, size = contiguous(x), math.prod(x.shape[2:])
    if size < _SHORT:
        return x.reshape(x.shape[0], channels * size), size
    return x.reshape(x.shape[0] * channels, size), IMAGES


def rows_of_part(lines):
    """Rows of a part of columns."""
    return max(rows_per_block(lines.shape[1]), _FEW)


def of_lines(lines, x):
    """Lines as an array of x's shape, in memory as x's lines are."""
    if channels_last(x):
        return np.moveaxis(lines.reshape(x.shape[0], *x.shape[2:], x.shape[1]), -1, 1)
    return lines.reshape(x.shape)
