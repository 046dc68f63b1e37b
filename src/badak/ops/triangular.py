"""The triangles of matrices."""

import numpy as np

from badak.ops._broadcast import by_rows
from badak.ops.batching import broadcasting
from badak.ops.op import Moving, Op


class Tril(Moving, Op):
    """y = x on and below diagonal k of its last two axes, 0 above;   dx = the same of dy."""

    batching = staticmethod(broadcasting)

    @staticmethod
    @by_rows
    def forward(save, x, k=0):
        save.k = k
        return np.tril(x, k)

    @staticmethod
    def backward(saved, dy):
        return np.tril(dy, saved.k)


class Triu(Moving, Op):
    """y = x on and above diagonal k of its last two axes, 0 below;   dx = the same of dy."""

    batching = staticmethod(broadcasting)

    @staticmethod
    @by_rows
    def forward(save, x, k=0):
        save.k = k
        return np.triu(x, k)

    @staticmethod
    def backward(saved, dy):
        return np.triu(dy, saved.k)
