"""The same values in another dtype, or in other memory."""

import numpy as np

from ..graph import Op


class Cast(Op):
    """y = x in `dtype`;   dx = dy in x's dtype."""

    fresh = True

    @staticmethod
    def forward(save, x, dtype):
        save.dtype = x.dtype
        with np.errstate(all="ignore"):
            return x.astype(dtype)

    @staticmethod
    def backward(saved, dy):
        return dy.astype(saved.dtype)


class Clone(Op):
    """y = a copy of x, C-contiguous where `contiguous`;   dx = dy."""

    @staticmethod
    def forward(save, x, contiguous=False):
        return x.copy(order="C" if contiguous else "K")

    @staticmethod
    def backward(saved, dy):
        return dy
