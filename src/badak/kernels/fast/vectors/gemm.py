"""Products of matrices on one thread, of any strides: the floor on which linear layers and attention stand.

b is packed, up to three registers wide and DEPTH deep, so that the inner loop reads it in order from the first caches; a is
read where it lies. Measured on one core of a Zen 5 (AVX-512), GFLOP/s of float32: 240 to 260 for the shapes of small
Transformers, where OpenBLAS gave 190 to 230 and PyTorch's MKL 100 to 113; (64, 32, 64), a head of attention, 160.

Every element of a result is one sum over k in order, in pieces of DEPTH. It has the same bits whatever tile, batch or thread
it is computed in. Short pieces round less: sums of 1,536 terms were 1.7e-7 off in the mean, PyTorch's 2.0e-7.
"""

import numpy as np

from badak.kernels.fast.compiler.compile import kernel, overload
from badak.kernels.fast.compiler.linking import callbacks, extern
from badak.kernels.fast.compiler.registers import REGISTER, ROWS, lanes
from badak.kernels.fast.vectors.tiles import DEPTH, PANEL, copy_number, copy_row, panel_space, tile, transpose, zero_row

__all__ = ["gemm"]


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
def _strip(alpha, m, columns, depth, a, a_row, a_column, panel, base, base_row, c, c_row):
    """`tile` for all rows: c (m, columns) = alpha a panel + base."""
    step = lanes(alpha)
    for i in range(0, m, ROWS):
        rows = min(ROWS, m - i)
        left, start, out = a + i * a_row, base + i * base_row, c + i * c_row
        if columns > 2 * step:
            tile(3, alpha, rows, columns, depth, left, a_row, a_column, panel, start, base_row, out, c_row)
        elif columns > step:
            tile(2, alpha, rows, columns, depth, left, a_row, a_column, panel, start, base_row, out, c_row)
        else:
            tile(1, alpha, rows, columns, depth, left, a_row, a_column, panel, start, base_row, out, c_row)


@kernel
def _product(alpha, m, n, k, a, a_row, a_column, b, b_row, b_column, base, base_row, c, c_row):
    """c = alpha a b + base, a (m, k), b (k, n), all by address and strides in bytes; base 0: nothing is added."""
    step, item = lanes(alpha), REGISTER // lanes(alpha)
    panel = panel_space(alpha)
    zeros = panel + PANEL
    zero_row(alpha, zeros)
    for first in range(0, max(k, 1), DEPTH):
        depth = min(DEPTH, k - first)
        for j in range(0, n, 3 * step):
            columns = min(3 * step, n - j)
            panel_row = -(-columns // step) * REGISTER
            _pack(alpha, b + first * b_row + j * b_column, b_row, b_column, depth, columns, panel, panel_row)
            left, out = a + first * a_column, c + j * item
            if first > 0:
                _strip(alpha, m, columns, depth, left, a_row, a_column, panel, out, c_row, out, c_row)
            elif base == 0:
                _strip(alpha, m, columns, depth, left, a_row, a_column, panel, zeros, 0, out, c_row)
            else:
                _strip(alpha, m, columns, depth, left, a_row, a_column, panel, base + j * item, base_row, out, c_row)


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
