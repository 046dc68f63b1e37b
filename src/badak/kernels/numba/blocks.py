"""The affine map of the last axis with weights in blocks of 4 or 8 bits."""

import numpy as np

from badak.core.memory import mapped
from badak.kernels.block_formats import FORMATS, PART, TOGETHER
from badak.kernels.half import BFLOAT16
from badak.kernels.numba._blocks import NOTHING, as_rows
from badak.kernels.numba.arithmetic import arithmetic
from badak.kernels.numba.bf16_gemm import product
from badak.kernels.numba.casts import cast
from badak.kernels.numba.codegen.compile import JIT, kernel
from badak.kernels.numba.codegen.integers import VNNI, VNNI_FEATURES, WIDENED
from badak.kernels.numba.codegen.registers import REGISTER
from badak.kernels.numba.cpu_dispatch import Way, Ways
from badak.kernels.numba.embedding import flat_ids, out_of_range
from badak.kernels.numba.simd.block_tiles import DOWN, begin_part_tiles, multiply_parts
from badak.kernels.numba.simd.blocks import (
    GROUP,
    INPUTS,
    PAIRS,
    PLAIN,
    QUADS,
    SCALES,
    TAKEN,
    add_parts,
    finish_rows,
    quantize_part,
    reach,
    scaled_parts,
    unpack_parts,
    write_numbers,
)
from badak.kernels.numba.simd.integer_tiles import end_tiles
from badak.kernels.numba.simd.integers import AMX
from badak.kernels.numba.simd.tiles import transpose
from badak.kernels.numba.threadpool.parallel import parallel_exact
from badak.kernels.numba.threadpool.pool import get_num_threads
from badak.kernels.reference import embedding_blocks as plain_embedding_blocks
from badak.kernels.reference import linear_blocks as plain_linear_blocks
from badak.kernels.reference import linear_blocks_backward as plain_backward
from badak.kernels.reference.blocks import AT_ONCE

ONLY = (np.float32,)
_FLOAT32 = np.dtype(np.float32)
_FEW = 4  # rows up to which the weights are read where they lie
_LEAST, _STREAM = 32_768, 131_072  # bytes of weights of a task
_LINE = 64
MAPPED = 1 << 27  # bytes of a result from which on it has memory of its own
_Q4_K = FORMATS["q4_k"].code
_NUMBERS = {"amx": AMX, "vnni": VNNI, "widened": WIDENED}  # of ways, as kernels know them
_PER_NS = {WIDENED: 50, VNNI: 150, AMX: 500}  # products and sums of one core, roughly
_LONGEST = max(map(reach, FORMATS.values()))


@kernel
def _address(x):
    """The first line of cache in x, an array of bytes with one line to spare."""
    return -(-x.ctypes.data // _LINE) * _LINE


@kernel
def _place(order, part):
    """Where the halves of a part of inputs lie among those of 16: see `simd/blocks.py`."""
    i, at = part // 8 * 4 + part % 4, part % 16
    if order == QUADS:
        return at % 4 * 128 + at // 4 * 16, at % 4 * 128 + 64 + at // 4 * 16
    if order == PAIRS:
        first = i * 64 + at // 4 % 2 * 32
        return first, first + 16
    return at * 32, at * 32 + 16


@parallel_exact("R2 Wb1 i i i i", ONLY)
def quantize_inputs(task, x, packed, rows, groups, order, shift):
    """`rows` rows of x, each as `groups` times 16 parts: numbers, scales, sums."""
    size = x.shape[1]
    for m in range(task * rows, min((task + 1) * rows, x.shape[0])):
        line, source = _address(packed) + m * groups * INPUTS, x.ctypes.data + 4 * m * size
        for part in range(TOGETHER * groups):
            group = line + part // TOGETHER * INPUTS
            first, second = _place(order, part % TOGETHER)
            lane = 4 * (part % TOGETHER)
            quantize_part(source + 4 * min(part * PART, size), max(size - part * PART, 0), group + first, group + second, shift,
                          group + SCALES + lane, group + TAKEN + lane)  # fmt: skip


@kernel
def _scaled(code, way, many, w, step, count, groups, width, left, x, x_step, out, out_step):
    """`scaled_parts`, compiled once."""
    scaled_parts(code, way, many, w, step, count, groups, width, left, x, x_step, out, out_step)


@kernel
def _copied(w, start, spare):
    """What w has from the byte `start` on, so many bytes as a kernel may read, at a place of their own."""
    for i in range(_LONGEST):
        at = start + i
        spare[i] = w[at // w.shape[1], at % w.shape[1]] if at < w.size else 0
    return spare.ctypes.data


@parallel_exact("W2 Rb1 Rb2 R1 i i i i i", ONLY)
def few_rows_blocks(task, y, packed, w, bias, columns, parts, width, code, way):
    """y[m, n] for `columns` n and a few m: the weights stream by once, in their order. width: bytes of 16 parts."""
    first, last = task * columns, min((task + 1) * columns, w.shape[0])
    step, groups, one = w.shape[1], -(-parts // TOGETHER), min(w.shape[1], 1)  # a literal 1 would be compiled for again
    many, row, apart = 1 if y.shape[0] == 1 else 4, groups * INPUTS, 1024 * groups
    space, spare, sums = np.empty(many * apart + _LINE, np.uint8), np.empty(_LONGEST, np.int8), np.empty(16, np.float32)
    u, totals = _address(space), sums.ctypes.data
    for n in range(first, last, 16):
        count = min(16, last - n)
        safe = count
        while safe and (n + safe - 1) * step + (groups - 1) * width + _LONGEST > w.size:
            safe -= 1
        for m in range(0, y.shape[0], 4):
            x = _address(packed) + m * row
            _scaled(code, way, many, w.ctypes.data + n * step, step, safe, groups, width, parts, x, row, u, apart)
            for r in range(safe, count):
                for g in range(groups):
                    own, to, left = _copied(w, (n + r) * step + g * width, spare), u + 64 * r + 1024 * g, parts - TOGETHER * g
                    _scaled(code, way, many, own, step, one, one, width, left, x + g * INPUTS, row, to, apart)
            for i in range(min(4, y.shape[0] - m)):
                sums[:] = 0
                for g in range(groups):
                    add_parts(u + i * apart + 1024 * g, x + i * row + g * INPUTS + SCALES, totals)
                own = bias.ctypes.data + 4 * n if bias.size > 0 else 0
                finish_rows(totals, own, y.ctypes.data + 4 * ((m + i) * y.shape[1] + n), count)
    space[0], spare[0], sums[0] = 0, 0, 0  # compiled code frees an array after its last mention, and an address is none


@kernel
def _unpacked(code, signed, w, step, count, left, out, scales, minima):
    """`unpack_parts`, compiled once."""
    unpack_parts(code, signed, w, step, count, left, out, scales, minima)


@kernel
def _turned(source, panel):
    """512 bytes of each of 16 rows as 512 bytes of each of 16 parts."""
    lanes = REGISTER // 4
    for j in range(0, 16, lanes):
        for k in range(0, 128, lanes):  # in fours of numbers
            transpose(np.float32(0), source + GROUP * j + 4 * k, GROUP, lanes, lanes, panel + 64 * k + 4 * j, 64)


@kernel
def _turned_scales(source, out):
    """16 scales of each of 16 rows as 16 rows' of each of 16 parts."""
    lanes = REGISTER // 4
    for j in range(0, 16, lanes):
        for k in range(0, 16, lanes):
            transpose(np.float32(0), source + 64 * j + 4 * k, 64, lanes, lanes, out + 64 * k + 4 * j, 64)


@parallel_exact("W2 Rb1 Rb2 R1 i i i i", ONLY)
def many_rows_blocks(task, y, packed, w, bias, parts, width, code, way):
    """16 columns of y: 16 rows of w, unpacked into a panel, and then every row of inputs."""
    n, step, groups, one = 16 * task, w.shape[1], -(-parts // TOGETHER), min(w.shape[1], 1)
    count = min(16, w.shape[0] - n)
    space, spare = np.empty(groups * 16 * (GROUP + 128) + 16 * (GROUP + 128) + _LINE, np.uint8), np.empty(_LONGEST, np.int8)
    panel = _address(space)
    scales = panel + groups * 16 * GROUP
    minima, raw = scales + groups * 1024, scales + groups * 2048
    signed, less, row = 1 if way == AMX else 0, 1 if code == _Q4_K else 0, groups * INPUTS
    for g in range(groups):
        start, left = n * step + g * width, parts - TOGETHER * g
        safe = count
        while safe and start + (safe - 1) * step + _LONGEST > w.size:
            safe -= 1
        own, low = raw + 16 * GROUP, raw + 16 * GROUP + 1024
        _unpacked(code, signed, w.ctypes.data + start, step, safe, left, raw, own, low)
        for r in range(safe, count):
            at = _copied(w, start + r * step, spare)
            _unpacked(code, signed, at, step, one, left, raw + GROUP * r, own + 64 * r, low + 64 * r)
        _turned(raw, panel + g * 16 * GROUP)
        _turned_scales(own, scales + 1024 * g)
        if less:
            _turned_scales(low, minima + 1024 * g)
    known = bias.ctypes.data + 4 * n if bias.size > 0 else 0
    if way == AMX:
        begin_part_tiles()
    for m in range(0, y.shape[0], 16 if way == AMX else DOWN):
        x, out, rows = _address(packed) + m * row, y.ctypes.data + 4 * (m * y.shape[1] + n), y.shape[0] - m
        multiply_parts(way, less, x, row, panel, scales, minima, parts, known, out, 4 * y.shape[1], rows, count)
    if way == AMX:
        end_tiles()
    space[0], spare[0] = 0, 0


def linear_blocks(x, w, b, form):
    """y = x w^T + b for w in blocks; see `reference`. The same bits in every way, for any number of rows."""
    chosen, rows = FORMATS[form], as_rows(x)
    m, size = rows.shape
    if not JIT or not rows.size or not w.size:
        return plain_linear_blocks(x, w, b, form)
    parts = w.shape[1] // chosen.width * (chosen.size // PART)
    groups, few = -(-parts // TOGETHER), m <= _FEW
    packed = np.empty(-(-m // 16) * 16 * groups * INPUTS + _LINE, np.int8)
    order = PLAIN if not few else QUADS if form == "q4_0" else PAIRS
    step = max(1, 8192 // size)
    quantize_inputs(-(-m // step), m * size, rows, packed, step, groups, order, chosen.shift)
    y = (mapped if 4 * m * len(w) >= MAPPED else np.empty)((m, len(w)), np.float32)
    numbers = np.ascontiguousarray(w).view(np.int8)
    bias = NOTHING[x.dtype] if b is None else np.ascontiguousarray(b)
    width, way = TOGETHER * PART // chosen.size * chosen.width, _NUMBERS[WAYS.chosen()]
    if few:
        stream = min(_STREAM, max(_LEAST, w.size // (2 * get_num_threads())))
        columns = max(16, stream // w.shape[1] // 16 * 16)
        few_rows_blocks(-(-len(w) // columns), m * w.size // 20, y, packed, numbers, bias, columns, parts, width, chosen.code, way)
    else:
        many_rows_blocks(
            -(-len(w) // 16), m * len(w) * size // _PER_NS[way], y, packed, numbers, bias, parts, width, chosen.code, way
        )
    return y.reshape(*x.shape[:-1], len(w))


@parallel_exact("W2 Rb2 Ri1 i i i i Ei1", (np.float32, BFLOAT16))
def numbers_of_rows(task, y, w, ids, rows, parts, width, code, wrong):
    """y[n] = the numbers of row ids[n] of w, for `rows` n. An id outside of w sets wrong[0]."""
    raw, scales, minima = np.empty(GROUP, np.int8), np.empty(TOGETHER, np.float32), np.empty(TOGETHER, np.float32)
    spare, one, ends = np.empty(_LONGEST, np.int8), min(w.shape[1], 1), y.shape[1] // PART
    less = 1 if code == _Q4_K else 0
    for n in range(task * rows, min((task + 1) * rows, len(ids))):
        row = ids[n]
        if row < 0 or row >= w.shape[0]:
            wrong[0] = 1
            continue
        for g in range(-(-parts // TOGETHER)):
            start, first = row * w.shape[1] + g * width, GROUP * g
            place = w.ctypes.data + start if start + _LONGEST <= w.size else _copied(w, start, spare)
            _unpacked(code, one, place, one, one, parts - TOGETHER * g, raw.ctypes.data, scales.ctypes.data, minima.ctypes.data)
            whole = min(TOGETHER, ends - TOGETHER * g)
            out = y.ctypes.data + y.itemsize * (n * y.shape[1] + first)
            write_numbers(y.itemsize, less, raw.ctypes.data, scales.ctypes.data, minima.ctypes.data, whole, out)
            for k in range(PART * whole, min(GROUP, y.shape[1] - first)):
                number = raw[k] * scales[k // PART]
                y[n, first + k] = number - minima[k // PART] if less else number
    raw[0], scales[0], minima[0], spare[0] = 0, 0, 0, 0


def _numbers(w, ids, form, size, dtype=_FLOAT32):
    chosen, wrong = FORMATS[form], np.zeros(1, np.int64)
    y = np.empty((len(ids), size), dtype)
    parts, width = w.shape[1] // chosen.width * (chosen.size // PART), TOGETHER * PART // chosen.size * chosen.width
    step = max(1, 4096 // max(size, 1))
    numbers = np.ascontiguousarray(w).view(np.int8)
    numbers_of_rows(-(-len(ids) // step), y.size, y, numbers, ids, step, parts, width, chosen.code, wrong)
    if wrong[0]:
        raise out_of_range(ids, len(w), "embedding")
    return y


def embedding_blocks(w, ids, form, size):
    """The numbers of rows of w, which is in blocks; see `reference`."""
    if not JIT or not w.size or not ids.size:
        return plain_embedding_blocks(w, ids, form, size)
    return _numbers(w, flat_ids(ids), form, size).reshape(*ids.shape, size)


def dequantize_blocks(w, form, size):
    """The numbers of all rows of w."""
    return embedding_blocks(w, np.arange(len(w)), form, size)


def linear_blocks_backward(dy, w, form, size):
    """dx = dy w, both rounded to bfloat16, a part of w at a time; see `reference`."""
    rows, step = as_rows(dy), max(1, AT_ONCE // max(size, 1))
    if not JIT or not rows.size or not w.size or dy.dtype not in (_FLOAT32, BFLOAT16):
        return plain_backward(dy, w, form, size)
    dx, ids = np.empty((len(rows), size), np.float32), np.arange(len(w))
    for n in range(0, len(w), step):
        part = np.empty(dx.shape, np.float32) if n else dx
        product(part, rows[:, n : n + step], _numbers(w, ids[n : n + step], form, size, BFLOAT16))
        dx = arithmetic(np.add, dx, part) if n else part
    return cast(dx, dy.dtype).reshape(*dy.shape[:-1], size)


def _right(way):
    """Whether products of every format come out right by this way: the check of `cpu_dispatch.py`."""
    random = np.random.RandomState(0)
    for form in FORMATS.values():
        w = random.randint(0, 256, (37, form.row(768))).astype(np.uint8)
        heads = w.reshape(37, -1, form.width)[..., : 2 if form.shift else 4]
        heads[...] = random.rand(*heads.shape[:2], heads.shape[2] // 2).astype(np.float16).view(np.uint8)
        for m in (1, 3, 20):
            x = random.standard_normal((m, 768)).astype(np.float32)
            with WAYS.use(way):
                if not np.array_equal(linear_blocks(x, w, None, form.name), plain_linear_blocks(x, w, None, form.name)):
                    return False
    return True


WAYS = Ways(
    "blocks",
    __file__,
    Way("amx", ("amx-tile", "amx-int8", *VNNI_FEATURES), lambda: _right("amx")),
    Way("vnni", VNNI_FEATURES, lambda: _right("vnni")),
    Way("widened"),
)
