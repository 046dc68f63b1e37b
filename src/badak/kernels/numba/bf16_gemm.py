"""Matrix products in bfloat16, cut into tiles for the team; float32 matrices are rounded while they are packed.

Sums are float32. `cpu_dispatch.py` chooses the instructions that multiply; where the CPU has none that pays, rounded numbers are
multiplied in float32, which gives the same up to the order of sums.
"""

from functools import partial

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.numba import gemm
from badak.kernels.numba._blocks import NOTHING
from badak.kernels.numba.casts import vector
from badak.kernels.numba.codegen.caches import SECOND_CACHE
from badak.kernels.numba.codegen.cpu import pairs_in_every_cycle
from badak.kernels.numba.cpu_dispatch import Way, Ways
from badak.kernels.numba.simd import bf16_gemm as inner
from badak.kernels.numba.threadpool.parallel import Kernel
from badak.kernels.numba.threadpool.pool import team

_FLOAT32 = np.dtype(np.float32)
_FLOPS_PER_NS = 800  # of one core, roughly
_COSTS = gemm.Costs(32, 32, 100, 1_000_000)
_ROOM = SECOND_CACHE // 2  # bytes of packed rows that stay in the second cache
WAY_NUMBERS = {"amx": inner.AMX, "avx512_bf16": inner.AVX512, "float32": inner.WIDE}


def bf16_tiles(task, c, a, b, bias, way, rows, columns):
    """One tile of c = a b + bias; see `gemm.part`."""
    left, right, row, out = gemm.part(task, c, a, b, bias, rows, columns)
    inner.bf16_gemm(way, 1, left, right, row, out)


_kernels: dict = {}  # by whether c, a and b are bfloat16


def _kernel(halves):
    """The kernel for c, a and b of which some are bfloat16, the others float32."""
    words = (f"{word}4" if half else f"{word}f4" for word, half in zip("XVV", halves))
    made = _kernels[halves] = Kernel(bf16_tiles, [*words, "Rf1", "i", "i", "i"], exact=False, dtypes=(BFLOAT16,))
    return made


def product(c, a, b, bias=None):
    """c = a b (+ bias) for c (M, N) or (I, J, M, N), whose rows are contiguous; returns c.

    c, a and b are bfloat16 or float32 each, not all float32; bias (N,) is added before the result is rounded.
    """
    out, way, a, b = c, WAY_NUMBERS[WAYS.chosen()], _packable(a), _packable(b)
    if c.ndim == 2:
        c, a, b = c[None, None], a[None, None], b[None, None]
    i, j, m, n = c.shape
    k = a.shape[3]
    if way == inner.WIDE:
        rows, columns = gemm.tiles(m, n, k, max(i * j, 1), team.size)
        speed = gemm.FLOPS_PER_NS
    else:
        most = max(_COSTS.rows, _ROOM // (2 * min(max(k, 1), inner.DEPTH)) // _COSTS.rows * _COSTS.rows)
        rows, columns = gemm.tiles(m, n, k, max(i * j, 1), team.size, most, _COSTS)
        speed = _FLOPS_PER_NS
    halves = c.dtype == BFLOAT16, a.dtype == BFLOAT16, b.dtype == BFLOAT16
    run = _kernels.get(halves) or _kernel(halves)
    bias = NOTHING[_FLOAT32] if bias is None else vector(bias, _FLOAT32)
    run(i * j * -(-m // rows) * -(-n // columns), 2 * i * j * m * n * k // speed, c, a, b, bias, way, rows, columns)
    return out


def _packable(x):
    """x, with one of its last two axes contiguous."""
    return x if x.itemsize in x.strides[-2:] else np.ascontiguousarray(x)


def _rounded(x):
    """x in float32, its numbers being those of bfloat16."""
    return x.astype(BFLOAT16, copy=False).astype(_FLOAT32)


def _right(name):
    """Whether small products by this way are what they should be: in all layouts, sides no multiple of a tile's.

    The compiled driver is called as it is: if somebody keeps a log of kernel calls, these are none of it.
    """
    rng = np.random.default_rng(0)
    of_them = True, False, True
    kernel = _kernels.get(of_them) or _kernel(of_them)
    run = kernel.compiled.get(BFLOAT16) or kernel.compile(BFLOAT16)
    for m, n, k in ((33, 49, 70), (64, 32, 1100)):
        for turned in range(4):
            a = rng.standard_normal((k, m) if turned % 2 else (m, k), _FLOAT32)
            b = rng.standard_normal((n, k) if turned // 2 else (k, n), _FLOAT32).astype(BFLOAT16)
            a, b = a.T if turned % 2 else a, b.T if turned // 2 else b
            made = np.empty((m, n), BFLOAT16)
            run(1, 1, 0, 0, made[None, None], a[None, None], b[None, None], NOTHING[_FLOAT32], WAY_NUMBERS[name], m, n)
            x, y = (_rounded(each).astype(np.float64) for each in (a, b))
            most = np.abs(x) @ np.abs(y) * k * 2.0**-23 + np.abs(x @ y) * 2.0**-8
            if not (np.abs(made.astype(np.float64) - x @ y) <= most).all():
                return False
    return True


WAYS = Ways(
    "bfloat16",
    __file__,
    Way("amx", ("amx-tile", "amx-bf16", "avx512bf16"), partial(_right, "amx")),
    Way("avx512_bf16", ("avx512bf16", "avx512bw"), partial(_right, "avx512_bf16"), pairs_in_every_cycle()),
    Way("float32"),
)
