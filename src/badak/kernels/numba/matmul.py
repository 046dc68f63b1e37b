"""The matrix product and of batches of them."""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.numba.bf16_gemm import product as bf16_product
from badak.kernels.numba.gemm import product
from badak.kernels.numba.skinny_gemm import few_rows


def matmul(a, b, kind=None):
    """y[..., m, n] = sum_k a[..., m, k] b[..., k, n]; leading axes broadcast.

    A batch of contiguous matrices times one matrix is one product of all their rows. kind: the result's dtype, a's where there is
    none. Where it, a or b is bfloat16, numbers are rounded to bfloat16 before they are multiplied.
    """
    narrow = a.itemsize == 2 or b.itemsize == 2 or (kind is not None and kind.itemsize == 2)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        return reference.matmul(a, b, kind) if narrow else reference.matmul(a, b)
    if a.dtype != b.dtype and not narrow:
        return reference.matmul(a, b)
    multiply, kind = bf16_product if narrow else product, kind or a.dtype
    if a.ndim == 2 and b.ndim == 2:
        y = None if narrow else few_rows(a, b)
        return y if y is not None else multiply(np.empty((a.shape[0], b.shape[1]), kind), a, b)
    if b.ndim == 2 and a.flags.c_contiguous:
        rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return matmul(rows, b, kind if narrow else None).reshape(*a.shape[:-1], b.shape[1])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.empty((*batch, a.shape[-2], b.shape[-1]), kind)
    multiply(_two_batch_axes(y, batch), _two_batch_axes(a, batch), _two_batch_axes(b, batch))
    return y


def _two_batch_axes(x, batch):
    """x (..., M, K), repeated along `batch`, as (I, J, M, K). More than two axes become one: a copy where x repeats."""
    if len(batch) > 2:
        if x.shape[:-2] != batch:
            x = np.broadcast_to(x, (*batch, *x.shape[-2:]))
        return x.reshape(1, math.prod(batch), *x.shape[-2:])
    return x[(None,) * (4 - x.ndim)]
