"""The order in which the axes of an array lie in memory: what follows it in a backward pass is not copied later."""

from functools import lru_cache

import numpy as np


@lru_cache
def order_of(strides):
    """The axes from the widest stride to the narrowest, and the order that leads back."""
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    return order, sorted(range(len(order)), key=order.__getitem__)


def empty_as(shape, strides, dtype):
    """An empty array of this shape whose axes lie in memory in the order of an array with these strides."""
    order, inverse = order_of(strides)
    return np.empty([shape[axis] for axis in order], dtype).transpose(inverse)
