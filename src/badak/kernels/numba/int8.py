"""The affine map of the last axis with 8-bit weights."""

import numpy as np

from badak.kernels.numba._blocks import NOTHING, as_rows
from badak.kernels.numba.codegen.compile import JIT, kernel
from badak.kernels.numba.codegen.integers import VNNI, VNNI_FEATURES, WIDENED
from badak.kernels.numba.codegen.registers import REGISTER
from badak.kernels.numba.cpu_dispatch import Way, Ways
from badak.kernels.numba.simd.integer_tiles import begin_tiles, end_tiles, multiply_tiles
from badak.kernels.numba.simd.integers import (
    AMX,
    BLOCK,
    CHUNK,
    TILE_ROWS,
    dot_rows,
    multiply_registers,
    quantize_row,
    scale_block,
    sum_panel,
)
from badak.kernels.numba.simd.tiles import transpose
from badak.kernels.numba.threadpool.parallel import parallel_exact
from badak.kernels.numba.threadpool.pool import team
from badak.kernels.reference import linear_int8 as plain_linear_int8

ONLY = (np.float32,)
_NUMBERS = {"amx": AMX, "vnni": VNNI, "widened": WIDENED}  # of ways, as kernels know them
_FEW = 4  # rows up to which the weights are read where they lie
_STREAM = 32_768  # bytes of weights of a task
_ROWS, _LINE = 256, 64
_PER_NS = {WIDENED: 150, VNNI: 500, AMX: 2500}  # products and sums of one core, roughly


@kernel
def _address(x):
    """The first line of cache in x, an array of bytes with one line to spare."""
    return -(-x.ctypes.data // _LINE) * _LINE


@kernel
def _begin(bias, n):
    """The address of bias[n], 0 where there is none."""
    return bias.ctypes.data + 4 * n if bias.size > 0 else 0


@parallel_exact("W2 R2 Rb2 R1 R1 i i", ONLY)
def few_rows_int8(task, y, x, w, scale, bias, columns, way):
    """y[m, n] for `columns` n and a few m: the weights stream by once, in their order."""
    first, last, size = task * columns, min((task + 1) * columns, w.shape[0]), w.shape[1]
    step = -(-size // CHUNK) * CHUNK
    space, x_scales = np.empty(x.shape[0] * step + _LINE, np.uint8), np.empty(x.shape[0], np.float32)
    numbers = _address(space)
    for m in range(x.shape[0]):
        start = x.ctypes.data + 4 * m * x.shape[1]
        quantize_row(start, x.shape[1], numbers + m * step, CHUNK, x_scales.ctypes.data + 4 * m)
    fours = last - (last - first) % 4
    for n in range(first, fours, 4):
        for m in range(x.shape[0]):
            start, known = w.ctypes.data + n * size, scale.ctypes.data + 4 * n
            row, one, out = numbers + m * step, x_scales.ctypes.data + 4 * m, y.ctypes.data + 4 * (m * y.shape[1] + n)
            dot_rows(4, way, start, size, row, size, one, known, _begin(bias, n), out)
    for n in range(fours, last):
        for m in range(x.shape[0]):
            start, known = w.ctypes.data + n * size, scale.ctypes.data + 4 * n
            row, one, out = numbers + m * step, x_scales.ctypes.data + 4 * m, y.ctypes.data + 4 * (m * y.shape[1] + n)
            dot_rows(1, way, start, size, row, size, one, known, _begin(bias, n), out)
    space[0], x_scales[0] = 0, 0  # compiled code frees an array after its last mention, and an address is none


@parallel_exact("W1 Wb1 Wb1 Wb1 R2 Rb2 i i i", ONLY)
def prepare_int8(task, x_scales, tiles, panels, shifts, x, w, rows, down, way):
    """The first `down` tasks quantize `rows` rows of x each, into tiles; the others lay 16 rows of w into a panel."""
    chunks = -(-x.shape[1] // CHUNK)
    if task < down:
        for m in range(task * rows, min((task + 1) * rows, x.shape[0])):
            out = _address(tiles) + m // 16 * chunks * 16 * CHUNK + m % 16 * CHUNK
            quantize_row(x.ctypes.data + 4 * m * x.shape[1], x.shape[1], out, 16 * CHUNK, x_scales.ctypes.data + 4 * m)
        return
    number, size = task - down, w.shape[1]
    n, lanes = 16 * number, REGISTER // 4
    panel = _address(panels) + number * chunks * 16 * CHUNK
    for j in range(0, 16, lanes):
        for k in range(0, 16 * chunks, lanes):  # in fours of numbers
            left, rest = min(n + j, w.shape[0] - 1), size // 4 - k
            start = w.ctypes.data + left * size + 4 * min(k, size // 4)
            transpose(np.float32(0), start, size, max(min(lanes, w.shape[0] - left), 1), max(min(lanes, rest), 0),
                      panel + k * CHUNK + 4 * j, CHUNK)  # fmt: skip
    sum_panel(way, panel, 16 * chunks, _address(shifts) + number * CHUNK)


@parallel_exact("W2 R1 Rb1 Rb1 Rb1 R1 R1 i i i i", ONLY)
def multiply_int8(task, y, x_scales, tiles, panels, shifts, scale, bias, rows, columns, chunks, way):
    """A part of y, of `rows` rows and `columns` columns, whole blocks."""
    across = -(-y.shape[1] // columns)
    top, left = task // across * rows, task % across * columns
    space = np.empty(4 * BLOCK * BLOCK + _LINE, np.uint8)
    sums, step = _address(space), chunks * 16 * CHUNK
    if way == AMX:
        begin_tiles()
    for n in range(left, min(left + columns, y.shape[1]), BLOCK):
        panel, here = _address(panels) + n // 16 * step, min(BLOCK, y.shape[1] - n)
        for m in range(top, min(top + rows, y.shape[0]), BLOCK):
            tile, below = _address(tiles) + m // 16 * step, min(BLOCK, y.shape[0] - m)
            if way != AMX:
                _by_registers(way, tile, below, panel, step, chunks, sums)
            else:
                multiply_tiles(-(-below // 16), tile, step, panel, step, chunks, sums)
            scale_block(sums, below, here, x_scales.ctypes.data + 4 * m, scale.ctypes.data + 4 * n,
                        _address(shifts) + 4 * n, _begin(bias, n), y.ctypes.data + 4 * (m * y.shape[1] + n),
                        4 * y.shape[1])  # fmt: skip
    if way == AMX:
        end_tiles()
    space[0] = 0


@kernel
def _by_registers(way, tile, rows, panel, step, chunks, sums):
    """A block of sums, for as many rows as there are."""
    two = 2 * REGISTER  # bytes of a panel's row that are multiplied at once; a row has 64
    second = step if two > CHUNK else REGISTER
    for i in range(0, rows, TILE_ROWS):
        left, out = tile + i // 16 * step + i % 16 * CHUNK, sums + 4 * BLOCK * i
        for j in range(0, 2 * CHUNK, two):
            right = panel + j // CHUNK * step + j % CHUNK
            multiply_registers(way, left, right, second, chunks, out + j)


def linear_int8(x, w, scale, b):
    """y = q w^T (x_scale scale) + b for q, x_scale of the rows of x; see `reference`. The same bits in every way."""
    features, size = w.shape
    rows = as_rows(x)
    y = np.empty((len(rows), features), np.float32)
    if not y.size or not size or not JIT:
        return plain_linear_int8(x, w, scale, b)
    if size % 4:
        w = np.pad(w, ((0, 0), (0, -size % 4)))  # rows are read in groups of four
    bias = NOTHING[x.dtype] if b is None else np.ascontiguousarray(b)
    multiply = _few if len(rows) <= _FEW else _many
    multiply(y, rows, np.ascontiguousarray(w), np.ascontiguousarray(scale), bias, _NUMBERS[WAYS.chosen()])
    return y.reshape(*x.shape[:-1], features)


def _few(y, x, w, scale, bias, way):
    columns = max(4, _STREAM // w.shape[1] // 4 * 4)
    few_rows_int8(-(-len(w) // columns), len(x) * w.size // 20, y, x, w, scale, bias, columns, way)


def _many(y, x, w, scale, bias, way):
    (n, size), features = x.shape, len(w)
    chunks = -(-size // CHUNK)
    x_scales = np.empty(n, np.float32)
    tiles = _room(-(-n // BLOCK) * BLOCK * chunks * CHUNK)
    panels, shifts = _room(-(-features // BLOCK) * BLOCK * chunks * CHUNK), _room(-(-features // BLOCK) * BLOCK * 4)
    rows = max(1, _STREAM // (16 * size)) * 16
    down = -(-n // rows)
    prepare_int8(down + -(-features // 16), (x.size + w.size) // 8, x_scales, tiles, panels, shifts, x, w, rows, down, way)
    rows = min(_ROWS, -(-n // BLOCK) * BLOCK)
    across = max(1, -(-4 * team.size // -(-n // rows)))
    columns = -(-features // (across * BLOCK)) * BLOCK
    multiply_int8(-(-n // rows) * -(-features // columns), 2 * n * w.size // _PER_NS[way],
                  y, x_scales, tiles, panels, shifts, scale, bias, rows, columns, chunks, way)  # fmt: skip


def _room(size):
    """Bytes, with a line of cache to spare."""
    return np.empty(size + _LINE, np.int8)


def _right(way):
    """Whether sums of every kind of size come out right by this way: the check of `cpu_dispatch.py`."""
    random = np.random.RandomState(0)
    for m, k, n in ((1, 100, 9), (3, 64, 5), (40, 200, 50)):
        x = random.standard_normal((m, k)).astype(np.float32)
        w, scale = random.randint(-127, 128, (n, k)).astype(np.int8), random.rand(n).astype(np.float32)
        with WAYS.use(way):
            if not np.array_equal(linear_int8(x, w, scale, scale), plain_linear_int8(x, w, scale, scale)):
                return False
    return True


WAYS = Ways(
    "int8",
    __file__,
    Way("amx", ("amx-tile", "amx-int8", *VNNI_FEATURES), lambda: _right("amx")),
    Way("vnni", VNNI_FEATURES, lambda: _right("vnni")),
    Way("widened"),
)
