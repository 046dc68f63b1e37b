"""A matrix product from three loops to the CPU's limit: `python -m bench.stages` measures docs/explanation/matmul.md.

Every stage of `product.py`, then badak's own kernels: each is checked against float64, measured on one thread or on all, and
compared with what the unit that it computes with does at most (`peaks.py`). Stages take turns, and the fastest round of each
counts: other programs can only slow a round down. Python's stages compute a few rows of c, and their time is that of all.
The figures are kept (`places.py`) and drawn (`stage_pictures.py`); `python tools/performance_page.py` puts them into the page.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter

import ml_dtypes
import numpy as np

from badak.inspect.profiling.machine import describe, environment
from badak.kernels import numba, reference
from badak.kernels.numba import cpu_dispatch
from bench import peaks, product
from bench.__main__ import commit
from bench.places import keep, place
from bench.rates import rates
from bench.stage_pictures import IMAGES, draw
from bench.stage_table import markdown

SIZE, TINY = 1152, 40
ROUND = 10e-3  # seconds of a round, roughly
LONG = 0.5  # seconds beyond which one round is enough
FLOATS = 2**27  # 512 MiB: what is read to measure memory
# Layers of a GPT, by the tokens that are computed at once: (what, M, K, N)
SHAPES = [
    ("1", 1, 768, 3072),
    ("8", 8, 768, 3072),
    ("32", 32, 768, 3072),
    ("256", 256, 768, 3072),
    ("2048", 2048, 384, 1536),
]


def in_lists(a, b):
    """`three_loops` on lists of Python's own numbers."""
    a, b = a.tolist(), b.tolist()
    c = [[0.0] * len(b[0]) for _ in a]

    def run():
        product.three_loops(a, b, c)
        return c

    return run, exactly(a, b)


def in_arrays(function):
    """A stage that fills an array."""

    def start(a, b):
        c = np.full((len(a), b.shape[1]), np.nan, np.float32)

        def run():
            function(a, b, c)
            return c

        return run, exactly(a, b)

    return start


def in_numpy(a, b):
    """What NumPy's own library makes of it: the stage next to the others."""
    return partial(np.matmul, a, b), exactly(a, b)


def in_float32(a, b):
    """badak's product."""
    return partial(numba.matmul, a, b), exactly(a, b)


def in_bfloat16(a, b):
    """badak's product of bfloat16, summed in float32."""
    a, b = a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)
    return partial(numba.matmul, a, b, np.float32), exactly(a.astype(np.float64), b.astype(np.float64))


def linear_float32(a, b):
    """badak's linear layer."""
    return partial(numba.linear, a, np.ascontiguousarray(b.T), None), exactly(a, b)


def linear_bfloat16(a, b):
    """badak's linear layer of bfloat16, which gives float32."""
    a, b = a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)
    run = partial(numba.linear, a, np.ascontiguousarray(b.T), None, np.float32)
    return run, exactly(a.astype(np.float64), b.astype(np.float64))


def linear_int8(a, b):
    """badak's linear layer with 8-bit weights. a is float32 and becomes int8 within the call, as in a model that answers."""
    q, scales = reference.quantize_rows(np.ascontiguousarray(b.T))
    ints, a_scales = reference.quantize_rows(a)
    exact = exactly(ints.astype(np.float64) * a_scales[:, None], (q.astype(np.float64) * scales[:, None]).T)
    return partial(numba.linear_int8, a, q, scales, None), exact


def exactly(a, b):
    """The product in float64, and how far a sum of as many float32 may be from it."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return a @ b, 4 * np.sqrt(b.shape[0]) * np.finfo(np.float32).eps * (np.abs(a) @ np.abs(b))


@dataclass(frozen=True)
class Stage:
    """A row of the table.

    start(a, b) gives (run, (the exact product, its tolerance)), and run() the product.   rows: of c, 0 for all.
    unit: what it computes with (`peaks.py`).   way: (kind, name) of `cpu_dispatch.py`.   next to: not one of the stages.
    """

    name: str
    start: Callable
    rows: int = 0
    all_threads: bool = False
    unit: str = "float32"
    way: tuple[str, str] | None = None
    beside: bool = False


STAGES = [
    Stage("three loops in Python", in_lists, rows=3),
    Stage("NumPy, a row at a time", in_arrays(product.rows), rows=48),
    Stage("the three loops, compiled", in_arrays(product.compiled)),
    Stage("another order of the loops", in_arrays(product.along_rows)),
    Stage("blocks for the caches", in_arrays(product.blocks)),
    Stage("blocks, packed", in_arrays(product.packed)),
    Stage("eight k at once", in_arrays(product.eight)),
    Stage("a tile in registers", in_arrays(product.in_registers)),
    Stage("badak's kernel", in_float32),
    Stage("NumPy's a @ b", in_numpy, beside=True),
    Stage("badak's kernel, all threads", in_float32, all_threads=True),
    Stage("NumPy's a @ b, all threads", in_numpy, all_threads=True, beside=True),
    Stage("bfloat16, AVX512_BF16", in_bfloat16, 0, True, "avx512_bf16", ("bfloat16", "avx512_bf16")),
    Stage("bfloat16, AMX", in_bfloat16, 0, True, "amx_bf16", ("bfloat16", "amx")),
    Stage("int8, VNNI", linear_int8, 0, True, "vnni", ("int8", "vnni")),
    Stage("int8, AMX", linear_int8, 0, True, "amx_int8", ("int8", "amx")),
]


# What a layer of a GPT runs, by kind, and the bytes of a number of a and of b
LAYERS = {"float32": (linear_float32, 4, 4), "bfloat16": (linear_bfloat16, 2, 2), "int8": (linear_int8, 4, 1)}


def why_not(stage: Stage) -> str:
    """Why a stage cannot be computed here; empty where it can."""
    if stage.way is None:
        return ""
    kind, name = stage.way
    return peaks.why_not(stage.unit) or cpu_dispatch.KINDS[kind].why_not(name)


class Running:
    """A stage on its arrays, checked; `round` takes its time."""

    def __init__(self, stage: Stage, m: int, k: int, n: int):
        rng = np.random.default_rng(0)
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
        a = a[: stage.rows] if stage.rows else a
        self.stage, self.share, self.seconds, self.times = stage, m / len(a), np.inf, 1
        self.flops = 2 * m * k * n
        self.run, (exact, allowed) = stage.start(a, b)
        with going(stage.way):
            error = np.abs(np.asarray(self.run(), np.float64) - exact)
        if not (error <= allowed).all():
            raise AssertionError(f"{stage.name}: {m} x {k} times {k} x {n} is wrong by {error.max():.2g}")
        self.round()
        self.times = max(1, int(ROUND / self.seconds))

    def round(self):
        """Take the time of some runs; the fastest round counts."""
        with going(self.stage.way):
            start = perf_counter()
            for _ in range(self.times):
                self.run()
            self.seconds = min(self.seconds, (perf_counter() - start) / self.times)

    def figures(self) -> dict:
        """Of all rows."""
        seconds = self.seconds * self.share
        return {"ms": round(1e3 * seconds, 4), "gflops": round(self.flops / seconds / 1e9, 3)}


def going(way: tuple[str, str] | None):
    """The context in which a way is gone."""
    return cpu_dispatch.KINDS[way[0]].use(way[1]) if way else nullcontext()


def measure(threads: int, all_threads: bool, size: int, rounds: int) -> dict:
    """The figures of one process."""
    numba.set_num_threads(threads)
    wanted = [stage for stage in STAGES if stage.all_threads == all_threads]
    absent = {stage.name: reason for stage in wanted if (reason := why_not(stage))}
    running = [Running(stage, size, size, size) for stage in wanted if stage.name not in absent]
    most = {each.stage.unit: 0.0 for each in running}
    layers = layers_of([each.stage for each in running]) if all_threads else []
    for _ in range(rounds):
        for unit in most:
            most[unit] = max(most[unit], peaks.peak(unit, threads, 5))
        for each in [*running, *(layer for layer, _ in layers)]:
            if each.seconds < LONG:
                each.round()

    def row(name, each):
        unit = each.stage.unit
        facts = {"unit": unit, "of": peaks.UNITS[unit].title, "threads": threads, "peak": round(most[unit], 1)}
        return {"name": name, **facts, **each.figures()}

    return {
        "stages": [{**row(each.stage.name, each), "beside": each.stage.beside} for each in running],
        "layers": [{**row(what, each), **more} for each, (what, more) in layers],
        "left_out": absent,
    }


def layers_of(stages: list[Stage]) -> list[tuple[Running, tuple[str, dict]]]:
    """The layers of a GPT in each kind of number, by the fastest way that there is."""
    last = {stage.way[0] if stage.way else "float32": stage for stage in stages if not stage.beside}
    found = []
    for kind, stage in last.items():
        start, of_a, of_b = LAYERS[kind]
        for what, m, k, n in SHAPES:
            intensity = 2 * m * k * n / (of_a * m * k + of_b * k * n + 4 * m * n)
            found.append((Running(replace(stage, start=start), m, k, n), (what, {"intensity": round(intensity, 2)})))
    return found


def options() -> argparse.Namespace:
    """What can be asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.stages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=SIZE, help="rows and columns of a, b and c")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tiny", action="store_true", help="a small product and one round, to try the machinery")
    parser.add_argument("--draw", action="store_true", help="only print and draw the figures of the last time")
    parser.add_argument("--out", type=Path, default=place("stages"), help="the JSON file")
    parser.add_argument("--images", type=Path, default=IMAGES, help="the folder of the pictures")
    parser.add_argument("--alone", choices=("one", "all"), help="measure on so many threads in this process and print JSON")
    wanted = parser.parse_args()
    if wanted.tiny:
        wanted.size, wanted.rounds = TINY, 1
    if min(wanted.size, wanted.rounds) < 1:
        parser.error(f"expected --size and --rounds of at least 1; got {wanted.size} and {wanted.rounds}")
    return wanted


def together(wanted: argparse.Namespace, threads: int) -> dict:
    """The figures of a process for one thread and of one for all, so that NumPy has as many."""
    found = []
    for alone, count in (("one", 1), ("all", threads)):
        command = [sys.executable, "-m", "bench.stages", "--alone", alone]
        command += ["--size", str(wanted.size), "--rounds", str(wanted.rounds)]
        done = subprocess.run(command, env=environment(count), stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    one, every = found
    reading = {"repeats": 2, "floats": 2**16} if wanted.tiny else {"repeats": 5, "floats": FLOATS}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": describe(threads),
        "size": wanted.size,
        "rounds": wanted.rounds,
        "stages": one["stages"] + every["stages"],
        "layers": every["layers"],
        "left_out": one["left_out"] | every["left_out"],
        "read_gb_s": rates(threads, **reading)["read_gb_s"],
    }


def main() -> None:
    """Measure, keep, print, draw."""
    wanted = options()
    threads = os.cpu_count() or 1
    if wanted.alone:
        mine = threads if wanted.alone == "all" else 1
        print(json.dumps(measure(mine, wanted.alone == "all", wanted.size, wanted.rounds)))
        return
    if not wanted.draw:
        keep(wanted.out, together(wanted, threads))
    elif not wanted.out.exists():
        sys.exit(f"{wanted.out}: no such file\nfix: measure first, without --draw")
    document = json.loads(wanted.out.read_text(encoding="utf-8"))
    print(f"{document['machine']['cpu']}\n\n{markdown(document)}")
    draw(document, wanted.images)


if __name__ == "__main__":
    main()
