"""Matrix products on one thread, of any strides: what linear layers and attention are made of.

b is packed in panels, up to three registers wide and DEPTH deep, so that the inner loop reads it in order from near caches. The
first rows of a are multiplied while the panel is written, and b that lies as a panel does is read where it is. So is a, or it is
packed, too, in strips of as many rows as the inner loop takes, where its steps are pages, or it is read often. While a tile is
computed, the caches are asked for what comes next, evenly: asked for all at once, the lines of a result held up the panel.

Every element of a result is one sum over k in order, in pieces of DEPTH. It has the same bits whatever tile, batch or thread
it is computed in. On a CPU with AVX-512 that was seen to be the very sum of MKL and OpenBLAS, bit for bit.
"""

import numpy as np

from badak.kernels.numba.codegen.compile import kernel, overload
from badak.kernels.numba.codegen.linking import callbacks, extern
from badak.kernels.numba.codegen.registers import REGISTER, ROWS, lanes
from badak.kernels.numba.simd.tiles import DEPTH, copy_number, copy_row, copy_strip, panel_space, tile, transpose

_LINE, _PAGE = 64, 4096  # bytes of a line of cache, and those after which its sets, and pages, begin again
_FEW, _SOME = 3, 16  # panels of b up to which a is read where it lies: where that is slow, and where it is not


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
            if columns > step:
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
        whole = m // ROWS * ROWS
        for k in range(depth):
            x, y = a + k * a_column, packed + k * row
            for i in range(0, whole, ROWS):
                copy_strip(like, x + i * item, y + i // ROWS * strip)
            for i in range(whole, m):
                copy_number(like, x + i * item, y + whole // ROWS * strip + (i - whole) * item)
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
def _strips(alpha, m, columns, depth, left, panel, source, begin, base, c, c_row, soon, ahead, first_time):
    """`tile` for all rows: c (m, columns) = alpha (begin + a panel) + base. left: a, from strip to strip, to row, to column.

    source: rows of b that the panel is still to be made of, and the bytes from one to the next; address 0: it is made.
    """
    step, strips = lanes(alpha), -(-m // ROWS)
    a, strip, a_row, a_column = left
    place, apart, count, shift = ahead
    share = -(-count // max(strips, 1))
    together = max(_LINE // (ROWS * (REGISTER // step)), 1)  # strips whose columns lie in the same lines
    asks = first_time and a_row == REGISTER // step
    for number in range(strips):
        i = number * ROWS
        rows, out = min(ROWS, m - i), c + i * c_row
        first_sums, start = (begin[0] + i * begin[1], begin[1]), (base[0] + i * base[1], base[1])
        x = a + number * strip, a_row, a_column
        below = out + ROWS * c_row if number + 1 < strips else soon
        beside = a, 0
        following = (number // together + 1) * together
        if asks and following < strips:
            beside = a + following * strip + number % together * (depth // together) * a_column, a_column
        first = number * share
        asked = place + first * apart, apart, shift, max(min(share, count - first), 0) << shift
        if columns > 2 * step and number == 0 and source[0] != 0:
            tile(3, 1, alpha, rows, columns, depth, x, panel, source, first_sums, start, out, c_row, below, asked, beside)
        elif columns > 2 * step:
            tile(3, 0, alpha, rows, columns, depth, x, panel, source, first_sums, start, out, c_row, below, asked, beside)
        elif columns > step:
            tile(2, 0, alpha, rows, columns, depth, x, panel, source, first_sums, start, out, c_row, below, asked, beside)
        else:
            tile(1, 0, alpha, rows, columns, depth, x, panel, source, first_sums, start, out, c_row, below, asked, beside)


@kernel
def _reads_in_place(a_row, a_column, item):
    """Up to how many panels of b a is read where it lies: columns take half of each line, steps of pages few sets of a cache."""
    if a_row == item:
        return 1 if a_column % _PAGE == 0 else _FEW
    return _FEW if a_column != item or a_row % _PAGE == 0 else _SOME


@kernel
def _width(columns, step):
    """How many of the columns that are left make the next panel: one register alone would not keep the adders busy."""
    return 2 * step if 3 * step < columns <= 4 * step else min(3 * step, columns)


@kernel
def _after(first, j, n, k, b, b_row, b_column, item):
    """What the panel at (first, j), or the next one, is made from: (address, bytes from row to row, rows, log2 of their lines)."""
    width = 3 * REGISTER // item
    if j >= n:
        first, j = first + DEPTH, 0
    start = b + first * b_row + j * b_column
    if first >= k or (b_row != item and b_column != item):
        return b, 0, 0, 0
    if b_row == item:
        return start, b_column, min(width, n - j), 5
    return start, b_row, min(DEPTH, k - first), 2


@kernel
def _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row, whole):
    """c = alpha a b + base, a (m, k), b (k, n), all by address and strides in bytes; base 0: nothing is added.

    whole: no pieces, each sum goes on where the last panel left it; alpha 1 and base 0 then.
    """
    step, item = lanes(alpha), REGISTER // lanes(alpha)
    width = 3 * step
    panel = panel_space(alpha)
    strip = item * ROWS * DEPTH + _LINE  # apart: else all strips would begin in the same set of the first cache
    packs = m > ROWS and n > _reads_in_place(a_row, a_column, item) * width
    packed = 0
    if packs:
        space = np.empty(-(-m // ROWS) * strip + 2 * _LINE, np.uint8)
        packed = -(-space.ctypes.data // _LINE) * _LINE
    for first in range(0, max(k, 1), DEPTH):
        depth, start = min(DEPTH, k - first), a + first * a_column
        left = start, ROWS * a_row, a_row, a_column
        if packs:
            _pack_rows(alpha, start, a_row, a_column, depth, m, packed, strip)
            left = packed, strip, item, ROWS * item
        j = 0
        while j < n:
            columns, out, right = _width(n - j, step), c + j * item, b + first * b_row + j * b_column
            panel_row, source = -(-columns // step) * REGISTER, (0, 0)
            if b_column == item and columns > 2 * step:
                source, right = (right, b_row), panel
            elif b_column != item or b_row != panel_row or columns % step != 0:
                _pack(alpha, right, b_row, b_column, depth, columns, panel, panel_row)
                right = panel
            begin, before = (0, 0), (0, 0) if base == 0 else (base + j * item, base_row)
            if first > 0 and whole:
                begin = out, c_row
            elif first > 0:
                before = out, c_row
            soon = out + columns * item if j + columns < n else c
            ahead = _after(first, j + columns, n, k, b, b_row, b_column, item)
            once = j == 0 and not packs
            _strips(alpha, m, columns, depth, left, right, source, begin, before, out, c_row, soon, ahead, once)
            j += columns
    if packs:
        space[0] = 0  # compiled code frees an array after its last mention, and an address is none


def _float32_product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row, whole):
    _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row, whole)


def _float64_product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row, whole):
    _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row, whole)


# Compiled once and called as a C function: in each kernel that multiplies it would be compiled again.
callbacks["badak_sgemm"] = _float32_product, "f" + " i" * 14, np.float32
callbacks["badak_dgemm"] = _float64_product, "f" + " i" * 14, np.float64
sgemm, _dgemm = extern("badak_sgemm", "f" + "l" * 14), extern("badak_dgemm", "d" + "l" * 14)


def gemm(alpha, a, b, base, c, whole=False):
    """c = alpha a b + base for matrices a (M, K), b (K, N), c (M, N), in place; the last stride of c must be one element.

    base is None, a row (N,) for every row of c, empty for none, or (M, N): c itself adds to what is there. whole: sums are not cut
    into pieces, so that zeros in a before or after the others change no bit; only where alpha is 1 and base None.
    """
    made = (a @ b) * c.dtype.type(alpha)
    c[...] = made if base is None or base.size == 0 else made + base


def where(base):
    """(address, stride of its rows) of what is added; address 0 for nothing."""
    return (0, 0) if base is None or base.size == 0 else (base.ctypes.data, base.strides[0] * (base.ndim - 1))


@overload(where)
def _(base):
    if getattr(base, "ndim", 0) == 0:
        return lambda base: (0, 0)
    if base.ndim == 1:
        return lambda base: (np.int64(base.ctypes.data) if base.size > 0 else 0, 0)
    return lambda base: (np.int64(base.ctypes.data), base.strides[0])


@overload(gemm)
def _(alpha, a, b, base, c, whole=False):
    call, number = sgemm if c.dtype.bitwidth == 32 else _dgemm, c.dtype

    def run(alpha, a, b, base, c, whole=False):
        if c.size > 0:
            start, step = where(base)
            call(
                number(alpha), c.shape[0], c.shape[1], a.shape[1], a.ctypes.data, a.strides[0], a.strides[1],
                b.ctypes.data, b.strides[0], b.strides[1], start, step, c.ctypes.data, c.strides[0], whole,
            )  # fmt: skip

    return run
