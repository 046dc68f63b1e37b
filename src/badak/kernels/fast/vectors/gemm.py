"""Products of matrices on one thread, of any strides: the floor on which linear layers and attention stand.

b is packed, up to three registers wide and DEPTH deep, so that the inner loop reads it in order from near caches. a is read
where it lies, or packed, too, in strips of as many rows as the inner loop takes, where its rows are not contiguous or all begin
in the same sets of a cache. While a tile is computed, the caches are asked for what comes next, evenly: asked for all at once,
the lines of a result held up the panel (one core of an Intel Xeon with AVX-512: a tenth of the rate of 2048 x 384 x 1152).

Every element of a result is one sum over k in order, in pieces of DEPTH. It has the same bits whatever tile, batch or thread
it is computed in. On a CPU with AVX-512 that was seen to be the very sum of MKL and OpenBLAS, bit for bit.
"""

import numpy as np

from badak.kernels.fast.compiler.compile import kernel, overload
from badak.kernels.fast.compiler.linking import callbacks, extern
from badak.kernels.fast.compiler.registers import REGISTER, ROWS, lanes
from badak.kernels.fast.vectors.tiles import (
    DEPTH,
    PANEL,
    copy_number,
    copy_row,
    copy_rows,
    panel_space,
    tile,
    transpose,
    zero_row,
)

__all__ = ["gemm"]

_LINE, _PAGE = 64, 4096  # bytes of a line of cache, and those after which its sets, and pages, begin again
_FEW = 3  # panels of b up to which a is read where it lies


@kernel
def _pack(like, b, b_row, b_column, depth, columns, panel, panel_row):
    """panel[k, j] = b[k, j] for k < depth, j < columns, in rows of whole registers."""
    item, step = REGISTER // lanes(like), lanes(like)
    if b_row == item:
        for j in range(0, columns, step):
            for k in range(0, depth, step):
                transpose(
                    like,
                    b + k * b_row + j * b_column,
                    b_column,
                    min(step, columns - j),
                    min(step, depth - k),
                    panel + k * panel_row + j * item,
                    panel_row,
                )
    elif b_column == item:
        for k in range(depth):
            if columns > 2 * step:
                copy_row(3, like, b + k * b_row, columns, panel + k * panel_row)
            elif columns > step:
                copy_row(2, like, b + k * b_row, columns, panel + k * panel_row)
            else:
                copy_row(1, like, b + k * b_row, columns, panel + k * panel_row)
    else:
        for k in range(depth):
            for j in range(columns):
                copy_number(like, b + k * b_row + j * b_column, panel + k * panel_row + j * item)


@kernel
def _pack_rows(like, a, a_row, a_column, depth, m, packed, strip):
    """packed[i // ROWS, k, i % ROWS] = a[i, k] for i < m, k < depth: strips of ROWS rows, `strip` bytes apart.

    Where columns of a are contiguous, whole ones are read: one after the other lies in memory.
    """
    item, step = REGISTER // lanes(like), lanes(like)
    row = ROWS * item
    if a_row == item:
        for k in range(depth):
            for i in range(0, m, ROWS):
                copy_rows(like, a + i * item + k * a_column, min(ROWS, m - i), packed + i // ROWS * strip + k * row)
    elif a_column == item:
        for i in range(0, m, ROWS):
            rows = min(ROWS, m - i)
            for k in range(0, depth, step):
                for r in range(0, rows, step):
                    transpose(
                        like,
                        a + (i + r) * a_row + k * item,
                        a_row,
                        min(step, rows - r),
                        min(step, depth - k),
                        packed + i // ROWS * strip + k * row + r * item,
                        row,
                    )
    else:
        for k in range(depth):
            for i in range(m):
                copy_number(like, a + i * a_row + k * a_column, packed + i // ROWS * strip + k * row + i % ROWS * item)


@kernel
def _strips(alpha, m, columns, depth, left, panel, base, base_row, c, c_row, soon, ahead):
    """`tile` for all rows: c (m, columns) = alpha a panel + base. left: a, from strip to strip, to row, to column."""
    step, strips = lanes(alpha), -(-m // ROWS)
    a, strip, a_row, a_column = left
    place, apart, count, shift = ahead
    share = -(-count // max(strips, 1))
    for number in range(strips):
        i = number * ROWS
        rows, x, start, out = min(ROWS, m - i), a + number * strip, base + i * base_row, c + i * c_row
        below = out + ROWS * c_row if number + 1 < strips else soon
        first = number * share
        asked = place + first * apart, apart, shift, max(min(share, count - first), 0) << shift
        if columns > 2 * step:
            tile(3, alpha, rows, columns, depth, x, a_row, a_column, panel, start, base_row, out, c_row, below, asked)
        elif columns > step:
            tile(2, alpha, rows, columns, depth, x, a_row, a_column, panel, start, base_row, out, c_row, below, asked)
        else:
            tile(1, alpha, rows, columns, depth, x, a_row, a_column, panel, start, base_row, out, c_row, below, asked)


@kernel
def _after(first, j, width, n, k, b, b_row, b_column, item):
    """What the panel after the one at (first, j) is packed from: (address, bytes from row to row, rows, log2 of their lines)."""
    j += width
    if j >= n:
        first, j = first + DEPTH, 0
    start = b + first * b_row + j * b_column
    if first >= k or (b_row != item and b_column != item):
        return b, 0, 0, 0
    if b_row == item:
        return start, b_column, min(width, n - j), 5
    return start, b_row, min(DEPTH, k - first), 2


@kernel
def _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row):
    """c = alpha a b + base, a (m, k), b (k, n), all by address and strides in bytes; base 0: nothing is added."""
    step, item = lanes(alpha), REGISTER // lanes(alpha)
    width = 3 * step
    panel = panel_space(alpha)
    zeros = panel + PANEL
    zero_row(alpha, zeros)
    strip = item * ROWS * DEPTH + _LINE  # apart: else all strips would begin in the same set of the first cache
    packs = (a_column != item or a_row % _PAGE == 0) and m > ROWS and n > _FEW * width
    space = np.empty(-(-m // ROWS) * strip + 2 * _LINE if packs else 0, np.uint8)
    packed = -(-space.ctypes.data // _LINE) * _LINE
    for first in range(0, max(k, 1), DEPTH):
        depth, start = min(DEPTH, k - first), a + first * a_column
        left = start, ROWS * a_row, a_row, a_column
        if packs:
            _pack_rows(alpha, start, a_row, a_column, depth, m, packed, strip)
            left = packed, strip, item, ROWS * item
        for j in range(0, n, width):
            columns, out = min(width, n - j), c + j * item
            panel_row = -(-columns // step) * REGISTER
            _pack(alpha, b + first * b_row + j * b_column, b_row, b_column, depth, columns, panel, panel_row)
            before = (zeros, 0) if base == 0 else (base + j * item, base_row)
            if first > 0:
                before = out, c_row
            soon = out + 3 * REGISTER if j + width < n else c
            ahead = _after(first, j, width, n, k, b, b_row, b_column, item)
            _strips(alpha, m, columns, depth, left, panel, before[0], before[1], out, c_row, soon, ahead)
    if packs:
        space[0] = 0  # compiled code frees an array after its last mention, and an address is none


def _float32_product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row):
    _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row)


def _float64_product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row):
    _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row)


# Compiled once and called as a C function: in each kernel that multiplies it would be compiled again.
callbacks["badak_sgemm"] = _float32_product, "f" + " i" * 13, np.float32
callbacks["badak_dgemm"] = _float64_product, "f" + " i" * 13, np.float64
_sgemm, _dgemm = extern("badak_sgemm", "f" + "l" * 13), extern("badak_dgemm", "d" + "l" * 13)


def gemm(alpha, a, b, base, c):
    """c = alpha a b + base for matrices a (M, K), b (K, N), c (M, N), in place; the last stride of c must be one element.

    base is None, a row (N,) for every row of c, empty for none, or (M, N): c itself adds to what is there.
    """
    made = (a @ b) * c.dtype.type(alpha)
    c[...] = made if base is None or base.size == 0 else made + base


def _where(base):
    """(address, stride of its rows) of what is added; address 0 for nothing."""
    return (0, 0) if base is None or base.size == 0 else (base.ctypes.data, base.strides[0] * (base.ndim - 1))


@overload(_where)
def _(base):
    if getattr(base, "ndim", 0) == 0:
        return lambda base: (0, 0)
    if base.ndim == 1:
        return lambda base: (np.int64(base.ctypes.data) if base.size > 0 else 0, 0)
    return lambda base: (np.int64(base.ctypes.data), base.strides[0])


@overload(gemm)
def _(alpha, a, b, base, c):
    call, number = _sgemm if c.dtype.bitwidth == 32 else _dgemm, c.dtype

    def run(alpha, a, b, base, c):
        if c.size > 0:
            start, step = _where(base)
            call(
                number(alpha),
                c.shape[0],
                c.shape[1],
                a.shape[1],
                a.ctypes.data,
                a.strides[0],
                a.strides[1],
                b.ctypes.data,
                b.strides[0],
                b.strides[1],
                start,
                step,
                c.ctypes.data,
                c.strides[0],
            )

    return run
