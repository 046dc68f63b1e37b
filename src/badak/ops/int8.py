"""The affine map of the last axis with weights of 8 bits."""

import numpy as np

from badak import kernels
from badak.errors import GraphError, ShapeError
from badak.graph import Op

_FLOAT32 = np.dtype(np.float32)


class LinearInt8(Op):
    """y = q w^T (x_scale scale) + b, where the rows of x are about q x_scale, q whole numbers; no gradient.

    x (..., K) of any float, w (N, K) int8, scale (N,) and b (N,) float32, b or None -> (..., N) in x's dtype. Sums of products
    q w are exact; the rest is computed in float32.
    """

    by_kernels = True
    moves = True  # 16 bits become float32 here

    @staticmethod
    def forward(save, x, w, scale, b):
        if not x.ndim or x.shape[-1] != w.shape[1]:
            raise ShapeError(
                f"linear: weight {w.shape} of 8 bits takes input (..., {w.shape[1]}); got input={x.shape}",
                f"an input whose last size is {w.shape[1]}",
            )
        if x.dtype is _FLOAT32:
            return kernels.of(x).linear_int8(x, w, scale, b)
        x32, scale, b = (None if a is None else a.astype(_FLOAT32) for a in (x, scale, b))
        return kernels.of(x32).linear_int8(x32, w, scale, b).astype(x.dtype)

    @staticmethod
    def backward(saved, dy):
        raise GraphError(
            "backward: weights of 8 bits have no gradient, and their inputs get none",
            "train the float32 model, and badak.quantize it afterwards",
        )
