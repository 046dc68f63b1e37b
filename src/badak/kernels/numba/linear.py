"""The affine map of the last axis."""

import math

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.numba import skinny_gemm
from badak.kernels.numba._blocks import NOTHING, PARTS, as_rows
from badak.kernels.numba.bf16_gemm import WAY_NUMBERS, WAYS
from badak.kernels.numba.bf16_gemm import product as bf16_product
from badak.kernels.numba.casts import vector
from badak.kernels.numba.gemm import product
from badak.kernels.numba.reductions import column_sum, sum_rows, summed
from badak.kernels.numba.simd.accumulators import in_full
from badak.kernels.numba.simd.bf16_gemm import AMX, WIDE
from badak.kernels.numba.simd.dots import TOGETHER, dots, tile_dots
from badak.kernels.numba.simd.gemm import gemm
from badak.kernels.numba.threadpool.parallel import parallel

_FEW = 4  # rows up to which reading the weights takes longer than multiplying
_FLOAT32 = np.dtype(np.float32)
_SMALL = 16_384  # elements of a weight up to which adding up partial sums of its gradient costs less than its sum along all rows
_ROWS, _MANY = 224, 4  # rows of such a part, and parts from which on that is so
_BLOCK = 16_384  # weights of a task, 64 KiB of float32


@parallel("W2 R2 R2 R1 i")
def few_rows(task, y, x, w, bias, columns):
    """y[m, n] = sum_k x[m, k] w[n, k] + bias[n] for `columns` n and a few m: the weights stream by once.

    A product packs them into another order first, which for a token at a time costs more than multiplying.
    """
    first, last = task * columns, min((task + 1) * columns, w.shape[0])
    dots(w[first:last], x, 1, bias[first:last], y[:, first:last])


@parallel("R2 Wh2")
def round_rows(task, x, rounded):
    """rounded = x, in bfloat16."""
    for m in range(x.shape[0]):
        for k in range(x.shape[1]):
            rounded[m, k] = x[m, k]


@parallel("W2 Rh2 Rh2 Rf1 i i")
def few_rows_bf16(task, y, x, w, bias, columns, way):
    """As `few_rows`, for x and w in bfloat16: half as much to read."""
    first, last = task * columns, min((task + 1) * columns, w.shape[0])
    sums = np.empty((x.shape[0], last - first), np.float32)
    if way == WIDE:
        dots(w[first:last], in_full(True, x, np.empty(x.shape, np.float32)), 1, bias[first:last], sums)
    elif way == AMX:
        tile_dots(w[first:last], x, 1, bias[first:last], sums)
    else:
        dots(w[first:last], x, 1, bias[first:last], sums)
    for m in range(x.shape[0]):
        for n in range(last - first):
            y[m, first + n] = sums[m, n]


def _few_bf16(x, w, b, kind, way):
    """linear for a few rows x (M, K) and w in bfloat16."""
    features, size = w.shape
    if x.dtype != BFLOAT16:
        x, given = np.empty(x.shape, BFLOAT16), np.ascontiguousarray(x)
        round_rows(1, x.size // 4, given, x)
    y, columns = np.empty((len(x), features), kind), _columns(2 * _BLOCK, size)
    bias = NOTHING[_FLOAT32] if b is None else vector(b, _FLOAT32)
    few_rows_bf16(-(-features // columns), len(x) * w.size // 10, y, np.ascontiguousarray(x), w, bias, columns, way)
    return y


def _columns(block, size):
    """Rows of a weight for a task: about a block of numbers, and whole groups of those that are read side by side."""
    return max(block // size // TOGETHER, 1) * TOGETHER


def _streams(x, w):
    """Whether the rows of w, bfloat16, can be read pair by pair, and be multiplied as a product of tiles would."""
    return w.size and x.size and x.shape[1] % 2 == 0 and w.flags.c_contiguous


def linear(x, w, b, kind=None):
    """y = x w^T + b.    x (..., K), w (N, K), b (N,) or None -> (..., N). The bias is added tile by tile.

    kind: y's dtype, x's where there is none. Where it, x or w is bfloat16, x and w are rounded to bfloat16 and then multiplied.
    """
    features, size = w.shape
    if x.itemsize == 2 or w.itemsize == 2 or (kind is not None and kind.itemsize == 2):
        rows = x.reshape(math.prod(x.shape[:-1]), size)
        way = WAY_NUMBERS[WAYS.chosen()]
        if w.itemsize == 2 and len(rows) <= _FEW and _streams(rows, w):
            return _few_bf16(rows, w, b, kind or x.dtype, way).reshape(*x.shape[:-1], features)
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
    y = skinny_gemm.few_rows(rows, columns, b)
    if y is None:
        y = np.empty((len(rows), features), x.dtype)
        product(y, rows, columns, None if b is None else np.ascontiguousarray(b))
    return y if len(lead) == 1 else y.reshape(*lead, features)


@parallel("W2 W3 W2 R2 V2 V2 R1 i")
def backward_rows(task, dx, dw_parts, db_parts, dy, x, w, nothing, rows):
    """dx for `rows` rows, unless it is empty, and their part of dw and, unless empty, of db, while they are in the caches."""
    first, last = task * rows, min((task + 1) * rows, dy.shape[0])
    given = dy[first:last]
    if dx.size:
        gemm(1, given, w, nothing, dx[first:last])
    gemm(1, given.T, x[first:last], nothing, dw_parts[task])
    if db_parts.size:
        sum_rows(db_parts[task], dy, first, last)


def _backward_of_many(dy, x, w, needs):
    """`linear_backward` of many rows dy (N, M) and x (N, K) and a small w: cut along the rows."""
    (n, features), size, kind = dy.shape, x.shape[1], dy.dtype
    rows = max(_ROWS, -(-n // PARTS))
    count = -(-n // rows)
    dx, dw = np.empty((n if needs[0] else 0, size), kind), np.empty((count, features, size), kind)
    db = np.empty((count, features if needs[2] else 0), kind)
    backward_rows(count, (1 + needs[0]) * n * w.size // 60, dx, dw, db, dy, x, w, NOTHING[kind], rows)
    return dx if needs[0] else None, summed(dw), summed(db) if needs[2] else None


def linear_backward(dy, x, w, needs):
    """dx, dw, db.    dx = dy w        dw = sum over rows of dy^T x        db = sum over rows of dy

    dw is cut along its own rows and columns, so that no sum is shared between tasks; but where it is small and rows are many,
    along these, into partial sums. dx has x's dtype, dw and db have w's.
    """
    dy = as_rows(dy)
    if needs[1] and w.size <= _SMALL and len(dy) >= _MANY * _ROWS and dy.itemsize > 2:
        dx, dw, db = _backward_of_many(dy, x.reshape(len(dy), x.shape[-1]), w, needs)
        return None if dx is None else dx.reshape(x.shape), dw, db
    multiply = bf16_product if dy.itemsize == 2 else product
    dx = multiply(np.empty((len(dy), w.shape[1]), x.dtype), dy, w).reshape(x.shape) if needs[0] else None
    dw = None
    if needs[1]:
        rows = x.reshape(len(dy), x.shape[-1])
        dw = multiply(np.empty(w.shape, w.dtype), dy.T, rows)
    return dx, dw, column_sum(dy, w.dtype) if needs[2] else None
