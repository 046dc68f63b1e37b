"""Matrix products, cut into tiles for the team: each tile is one call of `gemm`."""

import math
from functools import lru_cache
from typing import NamedTuple

from badak.kernels.numba._blocks import NOTHING
from badak.kernels.numba.codegen.caches import SECOND_CACHE
from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.codegen.registers import REGISTER, ROWS
from badak.kernels.numba.simd.gemm import gemm
from badak.kernels.numba.simd.tiles import DEPTH
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.numba.threadpool.pool import team

FLOPS_PER_NS = 120  # of one core, roughly: only decides whether a second thread is worth waking
# What a tile costs next to its products, in products: packing a row of its a or a column of its b is like so many rows or
# columns more; starting it; and the wait for the last one, as a part of a tile, for threads are interrupted.
_WAIT = 0.25


class Costs(NamedTuple):
    """Of a kind of product: steps of a tile's rows and columns, and the costs of packing and of starting, in products."""

    rows: int
    columns: int
    packing: int
    start: int


_FLOATS = Costs(ROWS, REGISTER // 4, 60, 100_000)
# Rows of a tile at most: DEPTH columns of them stay in the second cache, next to panels and results that pass.
_ROWS_MOST = max(128, SECOND_CACHE * 3 // 8 // (4 * DEPTH) // ROWS * ROWS)


@kernel
def part(task, c, a, b, bias, rows, columns):
    """The parts of a, b, bias and c of a task, which makes at most (rows, columns) of c[i, j] = a[i, j] b[i, j] + bias.

    c (I, J, M, N). a (I or 1, J or 1, M, K) and b (I or 1, J or 1, K, N) repeat along batch axes of size 1; bias (N,) or empty.
    """
    down, across = -(-c.shape[2] // rows), -(-c.shape[3] // columns)
    batch, tile = divmod(task, down * across)
    i, j = divmod(batch, c.shape[1])
    m, n = tile // across * rows, tile % across * columns
    left = a[i % a.shape[0], j % a.shape[1], m : m + rows, :]
    right = b[i % b.shape[0], j % b.shape[1], :, n : n + columns]
    return left, right, bias[n : n + columns], c[i, j, m : m + rows, n : n + columns]


@parallel("X4 V4 V4 R1 i i")
def product_tiles(task, c, a, b, bias, rows, columns):
    """One tile of c = a b + bias; see `part`."""
    left, right, row, out = part(task, c, a, b, bias, rows, columns)
    gemm(1, left, right, row, out)


@lru_cache(4096)
def tiles(m, n, k, batch, threads, most=_ROWS_MOST, costs=_FLOATS):
    """(rows, columns) of the tiles that a batch of products takes least time with; no bit of the result depends on them.

    Each tile packs its columns of b again, and may pack its rows of a, so large ones are better, and square ones; but all
    threads should have equally many, and not wait long for one that is interrupted in its last. most: rows of a tile.
    """
    least = max(-(-m // most), 1)
    best, shape = math.inf, (1, 1)
    for wanted in (1, threads, 2 * threads, 4 * threads, 8 * threads):
        down = least
        while True:
            fewest = max(-(-wanted // (batch * down)), 1)
            alike = threads // math.gcd(batch * down, threads)  # columns of tiles that give each thread equally many
            for across in (fewest, -(-fewest // alike) * alike):
                rows = -(-m // (down * costs.rows)) * costs.rows
                columns = min(-(-n // (across * costs.columns)) * costs.columns, n)
                rows, columns = max(min(rows, m), 1), max(columns, 1)
                count = batch * -(-m // rows) * -(-n // columns)
                tile = rows * columns * k + costs.packing * k * (rows + columns) + costs.start
                time = (-(-count // threads) + _WAIT * (threads > 1)) * tile
                if time <= best:
                    best, shape = time, (rows, columns)
            down *= 2
            if batch * down > wanted or down * costs.rows > m:
                break
    return shape


def product(c, a, b, bias=None):
    """c = a b (+ bias) for c (M, N) or (I, J, M, N), whose rows are contiguous; returns c."""
    out = c
    if c.ndim == 2:
        c, a, b = c[None, None], a[None, None], b[None, None]
    i, j, m, n = c.shape
    k = a.shape[3]
    rows, columns = tiles(m, n, k, max(i * j, 1), team.size)
    bias = NOTHING[c.dtype] if bias is None else bias
    product_tiles(i * j * -(-m // rows) * -(-n // columns), 2 * i * j * m * n * k // FLOPS_PER_NS, c, a, b, bias, rows, columns)
    return out
