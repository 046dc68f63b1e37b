"""How many operations a second the CPU's units do at most: `python -m bench.peaks`.

Loops on registers alone, which read no memory. A turn gives each of many independent sums one instruction, so that the unit
never waits for the one before. A multiplication with its addition counts 2.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import Barrier
from time import perf_counter
from typing import NamedTuple

from llvmlite import ir
from numba import njit

from badak.kernels.numba import cpu_dispatch
from badak.kernels.numba.codegen.amx import Tiles, Wide, has
from badak.kernels.numba.codegen.instructions import LIKE, instruction
from badak.kernels.numba.codegen.internals import cgutils
from badak.kernels.numba.codegen.registers import FLOAT32, REGISTER, ROWS, Vectors

_SUMS = 3 * ROWS  # with two registers more they fill a CPU's 32, or 16
_SECONDS = 4e-3  # of a round, roughly


def _vectors(builder, x, count):
    """Fused multiply-adds of float32."""
    v = Vectors(builder, FLOAT32)
    x = v.splat(x)
    return v.repeat(count, [v.zero] * _SUMS, lambda i, sums: [v.fma(x, x, each) for each in sums])


def _pairs(builder, x, count):
    """AVX512_BF16: products of two neighbouring bfloat16 and their sum, in each of 16 lanes."""
    w = Wide(builder)
    x = builder.bitcast(w.splat(x), w.shorts)
    return w.repeat(count, [w.nothing] * _SUMS, lambda i, sums: [w.dot(each, x, x) for each in sums])


def _fours(builder, x, count):
    """VNNI: products of four neighbouring int8 and their sum, in each of 16 lanes."""
    w = Wide(builder)
    x = builder.bitcast(w.splat(x), w.words)
    kind = ir.FunctionType(w.words, [w.words] * 3)
    dot = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpdpbusd.512")
    zero = ir.Constant(w.words, None)
    sums = w.repeat(count, [zero] * _SUMS, lambda i, sums: [builder.call(dot, [each, x, x]) for each in sums])
    return [builder.sitofp(each, w.floats) for each in sums]


def _tiles(name, builder, x, count):
    """AMX: products of two tiles of 16 rows of 64 bytes, into four tiles of sums. What the tiles hold does not matter."""
    tiles, w = Tiles(builder), Wide(builder)
    tiles.configure()
    for tile in range(8):
        tiles.zero(tile)

    def turn(i, _):
        for total in range(4):
            tiles.multiply(name, total, 4 + total // 2, 6 + total % 2)
        return []

    w.repeat(count, [], turn)
    tiles.release()
    return [w.nothing]


class Unit(NamedTuple):
    """operations: of a turn.   needs: features, by LLVM's names."""

    title: str
    emit: Callable
    operations: int
    needs: tuple[str, ...] = ()


UNITS = {
    "float32": Unit(f"float32, registers of {REGISTER} bytes", _vectors, 2 * _SUMS * REGISTER // 4),
    "avx512_bf16": Unit("bfloat16, AVX512_BF16", _pairs, 2 * _SUMS * 32, ("avx512bf16",)),
    "amx_bf16": Unit("bfloat16, AMX", partial(_tiles, "tdpbf16ps"), 4 * 2 * 16 * 16 * 32, ("amx-tile", "amx-bf16")),
    "vnni": Unit("int8, VNNI", _fours, 2 * _SUMS * 64, ("avx512vnni",)),
    "amx_int8": Unit("int8, AMX", partial(_tiles, "tdpbusd"), 4 * 2 * 16 * 16 * 64, ("amx-tile", "amx-int8")),
}


def why_not(name: str) -> str:
    """Why a unit cannot be measured here; empty where it can."""
    lacking = [feature for feature in UNITS[name].needs if not has(feature)]
    if lacking:
        return f"it needs {' and '.join(lacking)}, which this CPU lacks or BADAK_CPU hides"
    if "amx-tile" in UNITS[name].needs and not cpu_dispatch.permitted():
        return "the system does not permit tile registers to this process"
    return ""


@cache
def loop(name: str):
    """The compiled loop: loop(x, count) takes `count` turns."""
    unit = UNITS[name]

    @instruction(1, gives=LIKE)
    def turned(builder, x, count):
        sums = unit.emit(builder, x, count)
        while len(sums) > 1:  # all are used, or the compiler would leave them out
            sums = [builder.fadd(sums[0], sums[1]), *sums[2:]]
        return builder.extract_element(sums[0], ir.IntType(32)(0))

    return njit("float32(float32, int64)", nogil=True)(lambda x, count: turned(x, count))


@cache
def turns(name: str) -> int:
    """How many turns take a round's time, or more."""
    count = 1000
    while min(seconds(name, 1, count) for _ in range(3)) < _SECONDS:
        count *= 2
    return count


def seconds(name: str, threads: int, count: int) -> float:
    """What so many turns take on each of the threads, from the moment that all are there."""
    run, ready = loop(name), Barrier(threads)

    def work(_):
        ready.wait()
        start = perf_counter()
        run(1e-3, count)
        return start, perf_counter()

    with ThreadPoolExecutor(threads) as pool:
        starts, ends = zip(*pool.map(work, range(threads)))
    return max(ends) - min(starts)


def peak(name: str, threads: int, rounds: int = 10) -> float:
    """Giga-operations a second of a unit on so many threads, each of which has a core: the fastest of some rounds."""
    best = min(seconds(name, threads, turns(name)) for _ in range(rounds))
    return threads * turns(name) * UNITS[name].operations / best / 1e9


def main() -> None:
    """Print the peaks on one thread and on all."""
    counts = sorted({1, os.cpu_count() or 1})
    for name, unit in UNITS.items():
        reason = why_not(name)
        print(f"{unit.title:34}", *([reason] if reason else [f"{peak(name, count):9,.0f}" for count in counts]))


if __name__ == "__main__":
    main()
