"""A matrix product from three loops to registers, stage by stage: docs/explanation/matmul.md tells what each one changes.

Each stage fills c (M, N) with a (M, K) times b (K, N), float32; `python -m bench.stages` checks and measures them all.
"""

import numpy as np
from numba import njit

from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I64, REGISTER, ROWS, Vectors

DEEP, WIDE = 64, 128  # of a block of b: 32 KiB, for the first cache
TILE = 3 * REGISTER // 4  # columns of a tile: three registers
PANEL = 384  # k of a panel and of a strip


fused = njit(fastmath={"contract"})  # a product and the sum it goes into may become one instruction


def three_loops(a, b, c):
    """The definition: c[i, j] is the sum of a[i, k] b[k, j] over k."""
    for i in range(len(a)):
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            c[i][j] = total


def rows(a, b, c):
    """NumPy multiplies and adds a whole row of b at a time."""
    c[:] = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i] += a[i, k] * b[k]


compiled = fused(three_loops)  # the very same function


@fused
def along_rows(a, b, c):
    """The loop over j becomes the innermost: neighbours in memory are used one after the other."""
    c[:] = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]


@fused
def blocks(a, b, c):
    """A block of b is used for all rows of a before the next one is read."""
    c[:] = 0
    for first in range(0, a.shape[1], DEEP):
        for left in range(0, b.shape[1], WIDE):
            for i in range(a.shape[0]):
                out = c[i, left : left + WIDE]
                for k in range(first, min(first + DEEP, a.shape[1])):
                    x, row = a[i, k], b[k, left : left + WIDE]
                    for j in range(out.size):
                        out[j] += x * row[j]


@fused
def packed(a, b, c):
    """The block is copied first, so that it lies in one piece."""
    c[:] = 0
    for first in range(0, a.shape[1], DEEP):
        for left in range(0, b.shape[1], WIDE):
            block = b[first : first + DEEP, left : left + WIDE].copy()
            for i in range(a.shape[0]):
                out = c[i, left : left + WIDE]
                for k in range(len(block)):
                    x = a[i, first + k]
                    for j in range(out.size):
                        out[j] += x * block[k, j]


@fused
def eight(a, b, c):
    """Eight k at once: a number of c is read and written once for eight products."""
    c[:] = 0
    for first in range(0, a.shape[1], DEEP):
        for left in range(0, b.shape[1], WIDE):
            block = b[first : first + DEEP, left : left + WIDE].copy()
            whole = len(block) // 8 * 8
            for i in range(a.shape[0]):
                out = c[i, left : left + WIDE]
                for k in range(0, whole, 8):
                    for j in range(out.size):
                        total = out[j]
                        for u in range(k, k + 8):
                            total += a[i, first + u] * block[u, j]
                        out[j] = total
                for k in range(whole, len(block)):
                    x = a[i, first + k]
                    for j in range(out.size):
                        out[j] += x * block[k, j]


@instruction(1)
def tile(builder, like, depth, a, panel, c, c_row):
    """c[i, j] += sum_k a[k, i] panel[k, j] for ROWS rows and three registers of columns; the sums stay in registers.

    What is written here is not Python that runs, but LLVM's instructions, emitted once. a, panel and c are addresses.
    """
    v = Vectors(builder, like.type)
    places = [(i, j) for i in range(ROWS) for j in range(3)]

    def turn(k, sums):
        row = builder.add(panel, builder.mul(k, I64(3 * REGISTER)))
        right = [v.load(row, j * REGISTER) for j in range(3)]
        start = builder.add(a, builder.mul(k, I64(4 * ROWS)))
        left = [v.number(builder.add(start, I64(4 * i))) for i in range(ROWS)]
        return [v.fma(left[i], right[j], total) for (i, j), total in zip(places, sums)]

    for (i, j), total in zip(places, v.repeat(depth, [v.zero] * len(places), turn)):
        row = builder.add(c, builder.mul(c_row, I64(i)))
        v.store(builder.fadd(v.load(row, j * REGISTER), total), row, j * REGISTER)


@fused
def in_registers(a, b, c):
    """Strips of a and panels of b are packed in the order in which `tile` reads them."""
    (m, depth), n = a.shape, b.shape[1]
    down, across = -(-m // ROWS), -(-n // TILE)
    strips, panel = np.zeros((down, PANEL, ROWS), c.dtype), np.zeros((PANEL, TILE), c.dtype)
    out = np.zeros((down * ROWS, across * TILE), c.dtype)  # c, made up to whole tiles
    for first in range(0, depth, PANEL):
        deep = min(PANEL, depth - first)
        for i in range(m):
            for k in range(deep):
                strips[i // ROWS, k, i % ROWS] = a[i, first + k]
        for left in range(0, n, TILE):
            wide = min(TILE, n - left)
            panel[:deep, :wide] = b[first : first + deep, left : left + wide]
            for i in range(down):
                here = out[i * ROWS :, left:].ctypes.data
                tile(np.float32(0), deep, strips[i].ctypes.data, panel.ctypes.data, here, out.strides[0])
    c[:] = out[:m, :n]
    strips[0, 0, 0] = panel[0, 0] = 0  # compiled code frees an array after its last mention, and an address is none
