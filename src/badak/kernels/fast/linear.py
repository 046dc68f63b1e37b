"""The affine map of the last axis."""

import math

import numpy as np

from badak.kernels.fast import streamed
from badak.kernels.fast._blocks import NOTHING, as_rows
from badak.kernels.fast.bf16_products import product as bf16_product
from badak.kernels.fast.casts import vector
from badak.kernels.fast.products import product
from badak.kernels.fast.threads.parallel import parallel
from badak.kernels.fast.totals import column_sum
from badak.kernels.fast.vectors.dots import dots
from badak.kernels.half import BFLOAT16

_TOGETHER = 4  # rows of a weight that `dots` reads side by side
_FEW = 4  # rows up to which reading the weights takes longer than multiplying
_FLOAT32 = np.dtype(np.float32)
_BLOCK = 8_192  # weights of a task, 32 KiB of float32


@parallel("W2 R2 R2 R1 i")
def few_rows(task, y, x, w, bias, columns):
    """y[m, n] = sum_k x[m, k] w[n, k] + bias[n] for `columns` n and a few m: the weights stream by once.

    A product packs them into another order first, which for a token at a time costs more than multiplying.
    """
    first, last = task * columns, min((task + 1) * columns, w.shape[0])
    for m in range(x.shape[0]):
        row = y[m, first:last]
        dots(w[first:last], x[m], row)
        if bias.size:
            for n in range(row.size):
                row[n] += bias[first + n]


@parallel("R2 Wh2")
def round_rows(task, x, rounded):
    """rounded = x, in bfloat16."""
    for m in range(x.shape[0]):
        for k in range(x.shape[1]):
            rounded[m, k] = x[m, k]


@parallel("W2 Rh2 Rh2 Rf1 i")
def few_rows_bf16(task, y, x, w, bias, columns):
    """As `few_rows`, for x and w in bfloat16: half as much to read."""
    first, last = task * columns, min((task + 1) * columns, w.shape[0])
    sums = np.empty(last - first, np.float32)
    for m in range(x.shape[0]):
        dots(w[first:last], x[m], sums)
        for n in range(sums.size):
            y[m, first + n] = sums[n] + bias[first + n] if bias.size else sums[n]


def _few_bf16(x, w, b, kind):
    """linear for a few rows x (M, K) and w in bfloat16."""
    features, size = w.shape
    if x.dtype != BFLOAT16:
        x, given = np.empty(x.shape, BFLOAT16), np.ascontiguousarray(x)
        round_rows(1, x.size // 4, given, x)
    y, columns = np.empty((len(x), features), kind), _columns(2 * _BLOCK, size)
    bias = NOTHING[_FLOAT32] if b is None else vector(b, _FLOAT32)
    few_rows_bf16(-(-features // columns), len(x) * w.size // 10, y, np.ascontiguousarray(x), w, bias, columns)
    return y


def _columns(block, size):
    """Rows of a weight for a task: about a block of numbers, and whole groups of those that are read side by side."""
    return max(block // size // _TOGETHER, 1) * _TOGETHER


def _streams(x, w):
    """Whether the rows of w, bfloat16, can be read pair by pair."""
    return w.size and x.size and x.shape[1] % 2 == 0 and w.flags.c_contiguous


def linear(x, w, b, kind=None):
    """y = x w^T + b.    x (..., K), w (N, K), b (N,) or None -> (..., N). The bias is added tile by tile.

    kind: y's dtype, x's where there is none. Where it, x or w is bfloat16, x and w are rounded to bfloat16 and then multiplied.
    """
    features, size = w.shape
    if x.itemsize == 2 or w.itemsize == 2 or (kind is not None and kind.itemsize == 2):
        rows = x.reshape(math.prod(x.shape[:-1]), size)
        if w.itemsize == 2 and len(rows) <= _FEW and _streams(rows, w):
            return _few_bf16(rows, w, b, kind or x.dtype).reshape(*x.shape[:-1], features)
        y = bf16_product(np.empty((len(rows), features), kind or x.dtype), rows, w.T, b)
        return y.reshape(*x.shape[:-1], features)
    if x.size <= _FEW * size and x.size and w.flags.c_contiguous:
        rows = x.reshape(-1, size)
        y = np.empty((*x.shape[:-1], features), x.dtype)
        columns = _columns(_BLOCK, size)
        few_rows(-(-features // columns), w.size // 5, y.reshape(len(rows), features), np.ascontiguousarray(rows), w,
                 NOTHING[x.dtype] if b is None else np.ascontiguousarray(b), columns)  # fmt: skip
        return y
    lead = x.shape[:-1]
    rows, columns = x.reshape(math.prod(lead), size), w.T
    y = streamed.few_rows(rows, columns, b)
    if y is None:
        y = np.empty((len(rows), features), x.dtype)
        product(y, rows, columns, None if b is None else np.ascontiguousarray(b))
    return y if len(lead) == 1 else y.reshape(*lead, features)


def linear_backward(dy, x, w, needs):
    """dx, dw, db.    dx = dy w        dw = sum over rows of dy^T x        db = sum over rows of dy

    dw is cut along its own rows and columns: no sum is shared between tasks. dx has x's dtype, dw and db have w's.
    """
    dy = as_rows(dy)
    multiply = bf16_product if dy.itemsize == 2 else product
    dx = multiply(np.empty((len(dy), w.shape[1]), x.dtype), dy, w).reshape(x.shape) if needs[0] else None
    dw = None
    if needs[1]:
        rows = x.reshape(len(dy), x.shape[-1])
        dw = multiply(np.empty(w.shape, w.dtype), dy.T, rows)
    return dx, dw, column_sum(dy, w.dtype) if needs[2] else None
