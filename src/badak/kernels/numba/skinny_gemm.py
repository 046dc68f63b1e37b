"""A few rows times a matrix that is read once, in its order: a token at a time, weights as (inputs, outputs)."""

import numpy as np

from badak.kernels.numba._blocks import NOTHING
from badak.kernels.numba.codegen.arrays import unit_stride
from badak.kernels.numba.simd.streams import add_rows
from badak.kernels.numba.simd.tiles import DEPTH
from badak.kernels.numba.threadpool.parallel import parallel

_FEW = 6  # rows up to which reading w takes longer than multiplying; more pay for packing it
_COLUMNS = 512  # of w for a task, at most half of them all


@parallel("W2 R2 V2 R1 i")
def few_rows_down(task, y, x, w, bias, columns):
    """y[m, n] = sum_k x[m, k] w[k, n] + bias[n] for `columns` n and a few m: the sums of `gemm`, in pieces of DEPTH."""
    first, last = task * columns, min((task + 1) * columns, w.shape[1])
    out, sums = y[:, first:last], np.empty((y.shape[0], last - first), y.dtype)
    for start in range(0, w.shape[0], DEPTH):
        sums[...] = 0
        add_rows(sums, x[:, start : start + DEPTH], w[start : start + DEPTH, first:last])
        for m in range(out.shape[0]):
            row, total = unit_stride(out[m]), sums[m]
            for n in range(row.size):
                row[n] = total[n] + (row[n] if start > 0 else bias[first + n] if bias.size else 0)


def few_rows(x, w, bias=None):
    """x w (+ bias), for x (M, K) and w (K, N) whose rows are contiguous; None where a product of tiles is better."""
    if len(x) > _FEW or not x.size or w.strides[1] != w.itemsize or w.strides[0] < w.shape[1] * w.itemsize or w.shape[1] < 16:
        return None
    outputs = w.shape[1]
    y = np.empty((len(x), outputs), x.dtype)
    columns = min(_COLUMNS, -(-outputs // 32) * 16)
    few_rows_down(-(-outputs // columns), w.size // 5, y, np.ascontiguousarray(x), w,
                  NOTHING[x.dtype] if bias is None else np.ascontiguousarray(bias), columns)  # fmt: skip
    return y
