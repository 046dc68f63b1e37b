"""Products of bfloat16 in float32, on one thread: where nothing multiplies bfloat16 faster than float32.

Pieces of both matrices are copied to float32 and multiplied by `gemm`; numbers that are float32 are rounded on the way. DEPTH of k
and a few panels of the right matrix at a time, so that the copies stay in the second cache.
"""

import numpy as np

from badak.kernels.numba.codegen.compile import kernel
from badak.kernels.numba.codegen.registers import REGISTER
from badak.kernels.numba.simd.accumulators import round_in_float32, round_rows, widen_rows
from badak.kernels.numba.simd.gemm import sgemm
from badak.kernels.numba.simd.tiles import DEPTH

_COLUMNS = 8 * 3 * REGISTER // 4  # of the right matrix in float32 at a time: eight panels
_LINE = 64


@kernel
def _pitch(numbers):
    """Bytes from row to row of so many float32: whole lines of cache, an odd number of them, so that no steps are pages."""
    return (-(-4 * numbers // _LINE) | 1) * _LINE


@kernel
def _room(rows, columns, column, item):
    """The bytes that a copy takes."""
    return rows * _pitch(columns) if column == item else columns * _pitch(rows)


@kernel
def _copy(x, row, column, item, rows, columns, y):
    """Copy x (rows, columns) to y as float32 that are bfloat16, in x's order; the bytes from row to row of y, and to column."""
    by_rows = column == item
    if not by_rows:
        row, rows, columns = column, columns, rows
    step = _pitch(columns)
    if item == 2:
        widen_rows(x, row, rows, columns, y, step)
    else:
        round_in_float32(x, row, rows, columns, y, step)
    return (step, 4) if by_rows else (4, step)


@kernel
def wide_product(alpha, m, n, k, a, a_row, a_column, a_item, b, b_row, b_column, b_item, base, base_row, c, c_row, c_item):
    """c = alpha a b + base, by address and strides in bytes; items are 2 or 4, base 0: nothing is added."""
    depth, wide = max(min(k, DEPTH), 1), min(n, _COLUMNS)
    of_a = _room(m, depth, a_column, a_item)
    of_b = _room(depth, wide, b_column, b_item)
    step, shift = _pitch(n if k > DEPTH else wide), int(k > DEPTH)  # sums that more is added to are kept, each in its place
    space = np.empty(of_a + of_b + (m * step if c_item == 2 else 0) + _LINE, np.uint8)
    left = -(-space.ctypes.data // _LINE) * _LINE
    right = left + of_a
    sums = right + of_b
    if c_item == 4:
        sums, step, shift = c, c_row, 1
    for first in range(0, max(k, 1), DEPTH):
        deep, last = min(DEPTH, k - first), first + DEPTH >= k
        row, column = _copy(a + first * a_column, a_row, a_column, a_item, m, deep, left)
        for j in range(0, n, _COLUMNS):
            columns, out = min(_COLUMNS, n - j), sums + 4 * j * shift
            down, across = _copy(b + first * b_row + j * b_column, b_row, b_column, b_item, deep, columns, right)
            start, apart = (0, 0) if base == 0 else (base + 4 * j, base_row)
            if first > 0:
                start, apart = out, step
            sgemm(np.float32(alpha), m, columns, deep, left, row, column, right, down, across, start, apart, out, step, 0)
            if c_item == 2 and last:
                round_rows(out, step, m, columns, c + 2 * j, c_row)
    space[0] = 0  # compiled code frees an array after its last mention, and an address is none
