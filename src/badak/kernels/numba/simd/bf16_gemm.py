"""Matrix products in bfloat16 on one thread: packed to tiles, multiplied in AMX's registers or by AVX512_BF16, or in float32.

What is to be multiplied is bfloat16 already or float32, which is rounded while it is packed; sums are float32. The left matrix is
packed whole, DEPTH of k at a time, and stays in the second cache; of the right one a few panels of 32 columns at a time, of
which one stays in the first. Every element of a result is one sum over k in order, whatever tile or thread it is computed in.
"""

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.numba.codegen.amx import LINE, TILE, has
from badak.kernels.numba.codegen.bfloat16 import is_bfloat16
from badak.kernels.numba.codegen.compile import kernel, overload
from badak.kernels.numba.codegen.linking import callbacks, extern
from badak.kernels.numba.simd.accumulators import numbers_in, rounded_to
from badak.kernels.numba.simd.bf16_tiles import (
    SIDE,
    K,
    dot_block,
    finish,
    pack_pairs,
    pack_row,
    scratch,
    tile_block,
    tile_block_after,
    tiles_off,
    tiles_on,
    turn_pairs,
    turn_rows,
)
from badak.kernels.numba.simd.gemm import gemm, where
from badak.kernels.numba.simd.wide_gemm import wide_product

AMX, AVX512, WIDE = 0, 1, 2  # ways; WIDE: in float32
DEPTH = 1024  # of k, in one packing of both matrices
_PANELS = 8  # of the right matrix packed at a time, so that rows are read in pieces of 512 bytes and more
_ROW = 2 * TILE  # bytes of the two tiles at the same 32 of k
_DEEP = 8  # tiles along k up to which a block is written before the next one is multiplied: 768 x 128 -> 512 lost a tenth
_DOTS = 8  # rows of a block by AVX512_BF16


@kernel
def _pack_left(a, row, column, item, m, depth, packed):
    """Strips of 32 rows, each of them two tiles for every 32 of k. `item` 2 or 4, one of row and column is it."""
    strip = -(-depth // K) * _ROW
    if column == item:
        for i in range(m):
            place = packed + i // (2 * SIDE) * strip + i // SIDE % 2 * TILE + i % SIDE * LINE
            pack_row(item, a + i * row, depth, place)
    else:
        for k in range(0, depth, K):
            for i in range(0, m, 2 * SIDE):
                x, place = a + i * item + k * column, packed + i // (2 * SIDE) * strip + k // K * _ROW
                turn_pairs(item, x, column, min(K, depth - k), min(2 * SIDE, m - i), place)


@kernel
def _pack_right(b, row, column, item, depth, n, packed):
    """Panels of 32 columns, each of them two tiles of pairs for every 32 of k. `item` 2 or 4, one of row and column is it."""
    panel = -(-depth // K) * _ROW
    if row == item:
        for j in range(0, n, SIDE):
            start = packed + j // (2 * SIDE) * panel + j // SIDE % 2 * TILE
            for k in range(0, depth, K):
                x, place = b + j * column + k * item, start + k // K * _ROW
                turn_rows(item, x, column, min(SIDE, n - j), min(K, depth - k), place)
    else:
        for k in range(0, -(-depth // K) * K, 2):
            for j in range(0, n, 2 * SIDE):
                place = packed + j // (2 * SIDE) * panel + k // K * _ROW + k % K // 2 * LINE
                rows = min(2, depth - k)
                x, columns = b + j * item + min(k, depth - 1) * row, min(2 * SIDE, n - j) if rows > 0 else 0
                pack_pairs(item, x, row, rows, columns, place)


@kernel
def _block(way, rows, columns, a, b, count, begin, out, out_row, soon, soon_row, soon_rows):
    """out (32, 32) = begin + a b for two strips of tiles: the rows and columns that are there, rounded up to tiles."""
    if way == AMX:
        down, across = 2 if rows > SIDE else 1, 2 if columns > SIDE else 1
        tile_block(down, across, a, b, count, begin, out, out_row, soon, soon_row, soon_rows)
    else:
        for i in range(0, rows, _DOTS):
            dot_block(_DOTS, 2, a + i // SIDE * TILE + i % SIDE * LINE, b, count, begin, out + i * out_row, out_row)


@kernel
def _finish(alpha, c_item, c_row, waiting):
    """Write the block that waits, if there is one."""
    rows, columns, sums, base, base_row, c = waiting
    finish(c_item, alpha, rows, columns, sums, 2 * LINE, base, base_row, c, c_row)


@kernel
def _block_after(alpha, c_item, a, b, count, begin, place, out, c_row, rows, waiting):
    """A block of four tiles into `place`, and the one that waits. The lines of `out`, which is written next, are asked for."""
    r, n, s, base, step, c = waiting
    tile_block_after(c_item, alpha, a, b, count, begin, place, 2 * LINE, out, c_row, rows, r, n, s, 2 * LINE, base, step, c, c_row)


@kernel
def _product(way, alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item):
    sums = scratch()
    zeros = sums + 8 * TILE
    strips, panels = -(-m // (2 * SIDE)), -(-n // (2 * SIDE))
    deepest = -(-min(k, DEPTH) // K) * _ROW
    space = np.empty((strips + min(_PANELS, panels)) * deepest + LINE, np.uint8)
    left = -(-space.ctypes.data // LINE) * LINE
    right = left + strips * deepest
    in_place = c_item == 4 and alpha == 1 and base == 0  # whole blocks of sums are made where the result stands
    waiting = 0, 0, 0, 0, 0, 0  # what was multiplied last: rows, columns, its sums, what is added to them, its step, and where to
    other = sums + 4 * TILE
    partial = np.empty(strips * panels * 4 * TILE if k > DEPTH else 0, np.uint8)
    if way == AMX:
        tiles_on()
    for first in range(0, max(k, 1), DEPTH):
        depth, begin, last = max(min(DEPTH, k - first), 0), int(first > 0), first + DEPTH >= k
        tiles = -(-depth // K)
        _pack_left(a + first * a_column, a_row, a_column, a_item, m, depth, left)
        for group in range(0, panels, _PANELS):
            j = group * 2 * SIDE
            wide = min(_PANELS * 2 * SIDE, n - j)
            _pack_right(b + first * b_row + j * b_column, b_row, b_column, b_item, depth, wide, right)
            for strip in range(strips):
                i = strip * 2 * SIDE
                for panel in range(group, min(group + _PANELS, panels)):
                    j = panel * 2 * SIDE
                    rows, y, out = min(2 * SIDE, m - i), left + strip * tiles * _ROW, c + i * c_row + j * c_item
                    columns, x = min(2 * SIDE, n - j), right + (panel - group) * tiles * _ROW
                    soon = out + 2 * SIDE * c_item
                    if in_place and rows == 2 * SIDE and columns == 2 * SIDE:
                        _block(way, rows, columns, y, x, tiles, begin, out, c_row, soon, c_row, rows)
                        continue
                    place = sums
                    if k > DEPTH:
                        place = partial.ctypes.data + (panel * strips + strip) * 4 * TILE
                    if way == AMX and tiles > _DEEP and rows > SIDE and columns > SIDE:
                        _block_after(alpha, c_item, y, x, tiles, begin, place, out, c_row, rows, waiting)
                    else:
                        _finish(alpha, c_item, c_row, waiting)
                        _block(way, rows, columns, y, x, tiles, begin, place, 2 * LINE, soon, c_row, rows)
                    waiting = 0, 0, 0, 0, 0, 0
                    if last:
                        start, step = (zeros, 0) if base == 0 else (base + i * base_row + j * 4, base_row)
                        waiting = rows, columns, place, start, step, out
                    sums, other = other, sums
    _finish(alpha, c_item, c_row, waiting)
    if way == AMX:
        tiles_off()
    space[0], partial[:1] = 0, 0  # compiled code frees an array after its last mention, and an address is none


def _bf16_product(way, alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item):
    if way == WIDE:
        wide_product(alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item)
    else:
        _product(way, alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item)


def _bf16_product_in_float32(
    way, alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item
):
    wide_product(alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item)


# Compiled once, and called as a C function by the kernels that multiply.
_all_ways = _bf16_product if has("avx512bf16") else _bf16_product_in_float32
callbacks["badak_bf16_gemm"] = _all_ways, "i f" + " i" * 16, BFLOAT16
_gemm = extern("badak_bf16_gemm", "lf" + "l" * 16)


def bf16_gemm(way, alpha, a, b, base, c):
    """c = alpha a b + base in place, for a (M, K), b (K, N), c (M, N) of bfloat16 or float32; c's last stride is one element.

    a and b are rounded to bfloat16, sums are float32. base: as for `gemm`, in float32. One stride of each of a and b is one
    element. Denormal numbers count as zero.
    """
    made = (a.astype(BFLOAT16).astype(np.float32) @ b.astype(BFLOAT16).astype(np.float32)) * np.float32(alpha)
    c[...] = made if base is None or base.size == 0 else made + base


def multiply(way, alpha, a, full_a, b, full_b, base, c, room, whole=False):
    """c = alpha a b + base: `bf16_gemm` where one of a, b and c is bfloat16, else `gemm`; whole as there.

    In the way WIDE `gemm` multiplies full_a and full_b, a and b in float32, and c is rounded from `room`. Many small products
    share these: to take memory for each of them and to widen it again took as long as the products of heads of 8.
    """
    gemm(alpha, a, b, base, c)


@overload(bf16_gemm)
def _(way, alpha, a, b, base, c):
    of_a, of_b, of_c = (2 if is_bfloat16(kind) else 4 for kind in (a, b, c))

    def run(way, alpha, a, b, base, c):
        if c.size > 0:
            start, step = where(base)
            _gemm(
                way, np.float32(alpha), c.shape[0], c.shape[1], a.shape[1], a.ctypes.data, a.strides[0], a.strides[1], of_a,
                b.ctypes.data, b.strides[0], b.strides[1], of_b, start, step, c.ctypes.data, c.strides[0], of_c,
            )  # fmt: skip

    return run


@kernel
def _wide_gemm(alpha, a, b, base, c, room, whole):
    sums = numbers_in(c, room)
    gemm(alpha, a, b, base, sums, whole)
    rounded_to(c, sums)


@overload(multiply)
def _(way, alpha, a, full_a, b, full_b, base, c, room, whole=False):
    if not any(is_bfloat16(kind) for kind in (a, b, c)):
        return lambda way, alpha, a, full_a, b, full_b, base, c, room, whole=False: gemm(alpha, a, b, base, c, whole)
    if not has("avx512bf16"):
        return lambda way, alpha, a, full_a, b, full_b, base, c, room, whole=False: _wide_gemm(
            alpha, full_a, full_b, base, c, room, whole
        )

    def run(way, alpha, a, full_a, b, full_b, base, c, room, whole=False):
        if way == WIDE:
            _wide_gemm(alpha, full_a, full_b, base, c, room, whole)
        else:
            bf16_gemm(way, alpha, a, b, base, c)

    return run
