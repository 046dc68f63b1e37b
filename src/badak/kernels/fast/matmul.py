"""Products of matrices, cut into tiles for the team: each tile is one call of `gemm`."""

import math

import numpy as np

from badak.kernels import plain
from badak.kernels.fast._blocks import NOTHING
from badak.kernels.fast.compiler.registers import REGISTER, ROWS
from badak.kernels.fast.threads.parallel import parallel
from badak.kernels.fast.threads.team import team
from badak.kernels.fast.vectors.gemm import gemm

_FLOPS_PER_NS = 120  # of one core, roughly: only decides whether a second thread is worth waking
_TILE = 2_000_000  # flops of a tile at least
_TILES = 32  # tiles of a large product at least, so that threads that are interrupted hold up little
_ROWS_LEAST, _ROWS, _ROWS_MOST = 64, 256, 512  # rows of a tile


@parallel("X4 V4 V4 R1 i i")
def product_tiles(task, c, a, b, bias, rows, columns):
    """One tile of c[i, j] = a[i, j] b[i, j] + bias, c (I, J, M, N), of at most (rows, columns).

    a (I or 1, J or 1, M, K) and b (I or 1, J or 1, K, N) repeat along batch axes of size 1; bias (N,) or empty.
    """
    down, across = -(-c.shape[2] // rows), -(-c.shape[3] // columns)
    batch, tile = divmod(task, down * across)
    i, j = divmod(batch, c.shape[1])
    m, n = tile // across * rows, tile % across * columns
    left = a[i % a.shape[0], j % a.shape[1], m : m + rows, :]
    right = b[i % b.shape[0], j % b.shape[1], :, n : n + columns]
    out = c[i, j, m : m + rows, n : n + columns]
    gemm(1, left, right, bias[n : n + columns], out)


def tiles(m, n, k):
    """(rows, columns) of a tile. More threads get more tiles, which does not change a bit of the result (see `vectors/gemm.py`).

    Each tile packs its columns of b again, which many rows pay for: rows are halved down to _ROWS, then columns in whole
    panels, then rows again. At most _ROWS_MOST rows: DEPTH columns of them stay in the second cache from panel to panel.
    """
    panel = 3 * REGISTER // 4
    rows, columns = min(m, _ROWS_MOST), n
    wanted = max(2 * m * n * k // max(_TILES, 4 * team.size), _TILE)
    for least_rows, least_columns in ((_ROWS, n), (_ROWS, panel), (_ROWS_LEAST, panel)):
        while 2 * rows * columns * k > wanted and rows >= 2 * least_rows:
            rows = -(-rows // (2 * ROWS)) * ROWS
        while 2 * rows * columns * k > wanted and columns > least_columns:
            columns = -(-columns // (2 * panel)) * panel
    rows, columns = max(rows, 1), max(columns, 1)
    # The gradient of a small weight, deep and otherwise small: packing b twice costs less than a thread without work.
    while -(-m // rows) * -(-n // columns) < team.size and 2 * rows * columns * k > _TILE and rows >= 2 * ROWS:
        rows = -(-rows // (2 * ROWS)) * ROWS
    return rows, columns


def product(c, a, b, bias=None):
    """c = a b (+ bias) for c (M, N) or (I, J, M, N), whose rows are contiguous; returns c."""
    out = c
    if c.ndim == 2:
        c, a, b = c[None, None], a[None, None], b[None, None]
    i, j, m, n = c.shape
    k = a.shape[3]
    rows, columns = tiles(m, n, k)
    count = i * j * -(-m // rows) * -(-n // columns)
    product_tiles(
        count,
        2 * i * j * m * n * k // _FLOPS_PER_NS,
        c,
        a,
        b,
        NOTHING[c.dtype] if bias is None else bias,
        rows,
        columns,
    )
    return out


def matmul(a, b):
    """y[..., m, n] = sum_k a[..., m, k] b[..., k, n]; leading axes broadcast.

    A batch of contiguous matrices times one matrix is one product of all their rows.
    """
    if a.dtype != b.dtype or a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        return plain.matmul(a, b)
    if a.ndim == 2 and b.ndim == 2:
        return product(np.empty((a.shape[0], b.shape[1]), a.dtype), a, b)
    if b.ndim == 2 and a.flags.c_contiguous:
        rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return matmul(rows, b).reshape(*a.shape[:-1], b.shape[1])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.empty((*batch, a.shape[-2], b.shape[-1]), a.dtype)
    product(_two_batch_axes(y, batch), _two_batch_axes(a, batch), _two_batch_axes(b, batch))
    return y


def _two_batch_axes(x, batch):
    """x (..., M, K), repeated along `batch`, as (I, J, M, K). More than two axes become one: a copy where x repeats."""
    if len(batch) > 2:
        if x.shape[:-2] != batch:
            x = np.broadcast_to(x, (*batch, *x.shape[-2:]))
        return x.reshape(1, math.prod(batch), *x.shape[-2:])
    return x[(None,) * (4 - x.ndim)]
